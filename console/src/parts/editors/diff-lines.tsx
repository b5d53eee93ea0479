import { Box, Code, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'
import { type DiffLine, lineDiff } from './line-diff.ts'

const MOST_LINES = 1500
const SIGN = { same: ' ', added: '+', removed: '−', gap: '' } as const
const GROUND = {
  same: undefined,
  added: 'var(--mantine-color-teal-light)',
  removed: 'var(--mantine-color-red-light)',
  gap: undefined,
} as const

/** The difference of two texts, line by line; signs repeat what the colours say. */
export function DiffLines(props: { readonly label: string; readonly before: string; readonly after: string }) {
  const lines = lineDiff(props.before, props.after)
  const shown = lines.slice(0, MOST_LINES)
  return (
    <Box role="region" aria-label={props.label} tabIndex={0} mah="50vh" style={{ overflow: 'auto' }}>
      <Code block p={0}>
        {shown.map((line, index) => (
          // Lines have no other name than their place.
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is rebuilt for each pair of texts
          <Line key={index} line={line} />
        ))}
      </Code>
      {lines.length > MOST_LINES && (
        <Text size="sm" c="dimmed" p="xs">
          {say('conflict.more', { count: count(lines.length - MOST_LINES) })}
        </Text>
      )}
    </Box>
  )
}

function Line({ line: { kind, text, line } }: { readonly line: DiffLine }) {
  if (kind === 'gap')
    return (
      <Box px="sm" py={2} c="dimmed">
        {line === 1 ? say('conflict.sameOne') : say('conflict.same', { count: count(line) })}
      </Box>
    )
  return (
    <Box px="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap', background: GROUND[kind] }}>
      {SIGN[kind]} {text}
    </Box>
  )
}
