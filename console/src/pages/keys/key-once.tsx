import { Text } from '@mantine/core'
import type { KeyMade } from '../../api/keys.ts'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { say } from '../../texts/say.ts'

/** A key that is shown this one time. */
export function KeyOnce(props: {
  readonly made: KeyMade | undefined
  readonly title: string
  readonly hint?: string
  readonly onDone: () => void
}) {
  return (
    <SecretOnce
      title={props.title}
      secrets={props.made && [{ name: say('keys.key'), value: props.made.key_id }]}
      onDone={props.onDone}
    >
      <Text size="sm">{props.hint ?? say('keys.shownOnceHint')}</Text>
    </SecretOnce>
  )
}
