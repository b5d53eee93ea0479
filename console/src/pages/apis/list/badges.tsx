import { Badge, Group } from '@mantine/core'
import { say } from '../../../texts/say.ts'
import { authWord } from './api-labels.ts'

const TEXT = 'var(--mantine-color-text)'
/** A word that is cut off tells nothing. */
const WHOLE = { root: { flexShrink: 0 }, label: { overflow: 'visible' } } as const

/** Whether an API takes requests. */
export function StateBadge({ active, internal }: { readonly active: boolean; readonly internal: boolean }) {
  return (
    <Group gap={4}>
      <Badge variant="light" color={active ? 'teal' : 'gray'} c={TEXT} styles={WHOLE} tt="none">
        {say(active ? 'apis.active' : 'apis.inactive')}
      </Badge>
      {internal && (
        <Badge variant="light" color="grape" c={TEXT} styles={WHOLE} tt="none">
          {say('apis.internal')}
        </Badge>
      )}
    </Group>
  )
}

/** How callers of an API say who they are. */
export function AuthBadges({ types }: { readonly types: readonly string[] }) {
  return (
    <Group gap={4}>
      {types.map((type) => (
        <Badge
          key={type}
          variant="light"
          color={type === 'keyless' ? 'yellow' : 'blue'}
          c={TEXT}
          styles={WHOLE}
          tt="none"
        >
          {authWord(type)}
        </Badge>
      ))}
    </Group>
  )
}
