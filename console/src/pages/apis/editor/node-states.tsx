import { Badge, Group } from '@mantine/core'
import { say, type TextName } from '../../../texts/say.ts'

/** Colours of an API's states on a node. */
export const STATE_COLOUR: Readonly<Record<string, string>> = {
  loaded: 'teal',
  inactive: 'gray',
  elsewhere: 'gray',
  pending: 'blue',
  unknown: 'gray',
  stale: 'orange',
  failed: 'red',
  taken: 'red',
}
const TROUBLES = ['failed', 'taken', 'stale', 'pending'] as const

/** On how many nodes an API is loaded, and what is wrong on others. */
export function LoadedOn({ nodes }: { readonly nodes: Readonly<Record<string, number>> }) {
  const total = Object.values(nodes).reduce((sum, number) => sum + number, 0)
  const loaded = nodes.loaded ?? 0
  const trouble = TROUBLES.filter((state) => (nodes[state] ?? 0) > 0)
  return (
    <Group gap={6} wrap="nowrap">
      <span>{total === 0 ? '–' : say('apis.loadedOf', { loaded, total })}</span>
      {trouble.map((state) => (
        <Badge
          key={state}
          size="sm"
          variant="light"
          color={STATE_COLOUR[state]!}
          c="var(--mantine-color-text)"
          tt="none"
        >
          {say(`apis.nodeState.${state}` as TextName)}
        </Badge>
      ))}
    </Group>
  )
}
