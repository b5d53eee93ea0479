import { Textarea, type TextareaProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { say } from '../../texts/say.ts'

interface Props extends Pick<TextareaProps, 'label' | 'description' | 'disabled' | 'required' | 'styles'> {
  /** An object as JSON without blanks; '' = none. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: ReactNode
}

/** A field for a JSON object. Its value is reported once it is valid; until then the field shows the error. */
export function JsonArea({ value, onChange, error, ...rest }: Props) {
  const [draft, setDraft] = useState(() => spread(value))
  const [reported, setTold] = useState(value)
  if (reported !== value) {
    // Another user has changed it.
    setTold(value)
    setDraft(spread(value))
  }
  const read = objectOf(draft)
  const type = (text: string) => {
    setDraft(text)
    const next = objectOf(text)
    if (next === undefined || next === value) return
    setTold(next)
    onChange(next)
  }
  return (
    <Textarea
      autosize
      minRows={4}
      maxRows={20}
      spellCheck={false}
      {...rest}
      value={draft}
      onChange={({ currentTarget }) => type(currentTarget.value)}
      error={read === undefined ? say('part.jsonWanted') : error}
    />
  )
}

const spread = (value: string) => (value === '' ? '' : JSON.stringify(JSON.parse(value), null, 2))

/** The text without blanks; undefined when it is no object. */
function objectOf(text: string): string | undefined {
  if (text.trim() === '') return ''
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : undefined
  } catch {
    return undefined
  }
}
