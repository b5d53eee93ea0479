import { useCallback, useEffect, useRef, useState } from 'react'
import type { Definition } from '../../../api/apis/apis.ts'
import type { Mark } from '../../../parts/editors/editor-props.ts'
import { jsonFault } from '../../../parts/editors/openapi-place.ts'
import { say } from '../../../texts/say.ts'
import { textOf } from '../settings/codec.ts'
import { isObject } from './tree.ts'

/** Small documents follow while one types; reading five megabytes waits for a pause. */
const LARGE = 200_000
const SOON_MS = 150
const LATER_MS = 700

type Pending = { readonly text: string } | { readonly definition: Definition }

/** One definition as an object, which forms change, and as text, which an editor does; each follows the other. */
export interface TwoWayBinding {
  readonly definition: Definition
  readonly text: string
  /** Why the text is no definition at the moment; the object is then the last that was one. */
  readonly fault: Mark | undefined
  readonly editText: (text: string) => void
  readonly edit: (change: (definition: Definition) => Definition) => void
  readonly reset: (definition: Definition) => void
  /** The definition with everything that was typed; undefined while the text is none. */
  readonly parsePending: () => Definition | undefined
}

/** Keeps a definition and its text in step. */
export function useTwoWayBinding(initial: Definition): TwoWayBinding {
  const [definition, setDefinition] = useState(initial)
  const [text, setText] = useState(() => textOf(initial))
  const [fault, setFault] = useState<Mark>()
  const pending = useRef<Pending>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const now = useRef({ definition, text })
  now.current = { ...now.current, text }

  const parsePending = useCallback((): Definition | undefined => {
    clearTimeout(timer.current)
    const work = pending.current
    pending.current = undefined
    if (work !== undefined && 'definition' in work) {
      setText(textOf(work.definition))
      setFault(undefined)
      return work.definition
    }
    if (work === undefined) return jsonFault(now.current.text) === undefined ? now.current.definition : undefined
    const read = readText(work.text)
    if ('line' in read) {
      setFault(read)
      return undefined
    }
    now.current.definition = read.definition
    setDefinition(read.definition)
    setFault(undefined)
    return read.definition
  }, [])

  const later = useCallback(
    (work: Pending, size: number) => {
      pending.current = work
      clearTimeout(timer.current)
      timer.current = setTimeout(parsePending, size > LARGE ? LATER_MS : SOON_MS)
    },
    [parsePending],
  )
  useEffect(() => () => clearTimeout(timer.current), [])

  const editText = useCallback(
    (next: string) => {
      // The editor also tells what it was given.
      if (next === now.current.text) return
      setText(next)
      later({ text: next }, next.length)
    },
    [later],
  )
  const edit = useCallback(
    (change: (definition: Definition) => Definition) => {
      const base = pending.current === undefined ? now.current.definition : (parsePending() ?? now.current.definition)
      const next = change(base)
      if (next === now.current.definition) return
      now.current.definition = next
      setDefinition(next)
      later({ definition: next }, now.current.text.length)
    },
    [later, parsePending],
  )
  const reset = useCallback((next: Definition) => {
    clearTimeout(timer.current)
    pending.current = undefined
    now.current.definition = next
    setDefinition(next)
    setText(textOf(next))
    setFault(undefined)
  }, [])
  return { definition, text, fault, editText, edit, reset, parsePending }
}

function readText(text: string): { readonly definition: Definition } | Mark {
  const fault = jsonFault(text)
  if (fault !== undefined) return fault
  const value = JSON.parse(text)
  return isObject(value) ? { definition: value } : { line: 1, message: say('apis.notAnObject') }
}
