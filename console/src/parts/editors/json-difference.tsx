import { Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { DiffLines } from './diff-lines.tsx'
import { sortedText } from './line-diff.ts'

/**
 * The difference of two states of a document, line by line. `before` null: there was none; `after` null: there is none any
 * more.
 */
export function JsonDifference(props: { readonly label: string; readonly before: unknown; readonly after: unknown }) {
  const [before, after] = [textOf(props.before), textOf(props.after)]
  if (before === after) return <Text c="dimmed">{say('part.noDifference')}</Text>
  return <DiffLines label={props.label} before={before} after={after} />
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : sortedText(value)
}
