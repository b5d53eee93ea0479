import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { APIS_KEY, type ApiView, apiKey, type Definition, readApi, saveDefinition } from '../../../api/apis/apis.ts'
import { CallError } from '../../../api/calls/call.ts'
import { notifyDone } from '../../../parts/display/notify.ts'
import type { Mark } from '../../../parts/editors/editor-props.ts'
import { type Flaw, flawsIn, lineOf, marksOf } from '../../../parts/editors/openapi-place.ts'
import { StillEditing, useGuardedSave } from '../../../parts/forms/conflict.tsx'
import { isSame } from '../../../parts/forms/same.ts'
import { say } from '../../../texts/say.ts'
import { textOf } from '../settings/codec.ts'
import { EXTENSION } from './tree.ts'
import { type TwoWayBinding, useTwoWayBinding } from './two-way-binding.ts'

/** Everything that an editor of a definition needs: both its sides, what is wrong, saving and leaving. */
export interface DefinitionEditor {
  readonly binding: TwoWayBinding
  /** As it is stored, or was when editing began. */
  readonly loaded: Definition
  readonly marks: readonly Mark[]
  /** The dashboard's errors of the current draft, by paths of the definition. */
  readonly flaws: readonly Flaw[]
  readonly isDirty: boolean
  readonly isSaving: boolean
  readonly error: unknown
  readonly save: () => void
  readonly discard: () => void
  readonly dialog: ReactNode
  readonly leaving: Parameters<typeof import('../../../parts/forms/leave-question.tsx').LeaveQuestion>[0]['leaving']
}

/** Edits the definition of an API; what others save meanwhile is shown before it would be lost. */
export function useDefinitionEditor(api: ApiView): DefinitionEditor {
  const client = useQueryClient()
  const [loaded, setLoaded] = useState(api.definition)
  const loadedText = useMemo(() => textOf(loaded), [loaded])
  const binding = useTwoWayBinding(loaded)
  const { save, dialog } = useGuardedSave()
  const [refused, setRefused] = useState<{ readonly definition: Definition; readonly error: CallError }>()
  const isDirty = binding.text !== loadedText

  const show = (definition: ApiView['definition']) => {
    setLoaded(definition)
    binding.reset(definition)
  }
  // Changes of others are applied as long as nothing was typed here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a definition that was read again is news
  useEffect(() => {
    if (!isDirty && !isSame(api.definition, loaded)) show(api.definition)
  }, [api.definition])

  const saving = useMutation({
    mutationFn: async () => {
      const mine = binding.parsePending()
      if (mine === undefined) throw new Error(say('apis.textBroken'))
      const read = async () => (await readApi(api.id)).definition
      const done = await save({ loaded, mine, read, write: (definition) => saveDefinition(api, definition) })
      const stored = await client.fetchQuery({ queryKey: apiKey(api.id), queryFn: () => readApi(api.id), staleTime: 0 })
      return { done, stored: stored.definition }
    },
    onSuccess: ({ done, stored }) => {
      show(stored)
      setRefused(undefined)
      if (done.outcome === 'saved') void announce({ object: { kind: 'api', id: api.id }, ...done })
      void client.invalidateQueries({ queryKey: APIS_KEY })
    },
    onError: (error) => {
      const definition = binding.parsePending()
      if (error instanceof CallError && definition !== undefined) setRefused({ definition, error })
    },
  })
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isWithin(current, next),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  const refusal = refused !== undefined && refused.definition === binding.definition ? refused.error : undefined
  const marks = useMemo(() => {
    if (binding.fault !== undefined) return [binding.fault]
    return refusal === undefined ? [] : refusalMarks(binding.text, refusal)
  }, [binding.fault, binding.text, refusal])
  const flaws = useMemo(
    () => (refusal === undefined ? NO_FLAWS : refusalFlaws(api.isOas, refusal)),
    [api.isOas, refusal],
  )
  // A refusal of a text that has been changed since is ignored.
  const isPast = saving.error instanceof StillEditing || (saving.error instanceof CallError && refusal === undefined)
  return {
    ...{ binding, loaded, marks, flaws, isDirty, dialog, leaving },
    isSaving: saving.isPending,
    error: isPast ? null : saving.error,
    save: () => saving.mutate(),
    discard: () => {
      saving.reset()
      setRefused(undefined)
      show(api.definition)
    },
  }
}

/** The message after a save is loaded with the first one. */
async function announce(saved: Parameters<typeof import('../../../parts/review/saved-toast.tsx').notifySaved>[0]) {
  try {
    const { notifySaved } = await import('../../../parts/review/saved-toast.tsx')
    notifySaved(saved)
  } catch {
    // The connection is gone since the save: that it was saved is said all the same.
    notifyDone(say('part.saved'))
  }
}

interface Stop {
  readonly pathname: string
  readonly search: unknown
}

/** Another view of the same tab loses nothing. */
function isWithin(current: Stop, next: Stop): boolean {
  const tab = (stop: Stop) => (stop.search as { readonly tab?: string }).tab
  return current.pathname === next.pathname && tab(current) === tab(next)
}

const NO_FLAWS: readonly Flaw[] = []
/** The one thing that is refused for what others have: the place where an API answers. */
const TAKEN = { oas: [EXTENSION, 'server', 'listenPath', 'value'], classic: ['proxy', 'listen_path'] } as const

function refusalMarks(text: string, { status, message }: CallError): readonly Mark[] {
  const marks = marksOf(text, message)
  if (marks.length > 0 || status !== 409) return marks
  return [{ line: lineOf(text, TAKEN[text.includes(`"${EXTENSION}"`) ? 'oas' : 'classic']), message }]
}

function refusalFlaws(isOas: boolean, { status, message }: CallError): readonly Flaw[] {
  const flaws = flawsIn(message)
  if (flaws.length > 0 || status !== 409) return flaws
  return [{ at: TAKEN[isOas ? 'oas' : 'classic'], words: '', reason: message }]
}
