import { Text } from '@mantine/core'
import type { KeyMade } from '../../api/access/keys.ts'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { say } from '../../texts/say.ts'
import { KeyCall } from './key-call.tsx'

/** A key, perhaps with the secret that it signs with. */
export type KeyShown = KeyMade & { readonly secret?: string | undefined }

/** A key that is shown this one time. */
export function KeyOnce(props: {
  readonly made: KeyShown | undefined
  readonly title: string
  readonly hint?: string
  readonly onDone: () => void
}) {
  const { made } = props
  const secret = made?.secret === undefined ? [] : [{ name: say('keys.secret'), value: made.secret }]
  return (
    <SecretOnce
      title={props.title}
      secrets={made && [{ name: say('keys.key'), value: made.key_id }, ...secret]}
      onDone={props.onDone}
    >
      {made !== undefined && <KeyCall hash={made.key_hash} value={made.key_id} />}
      <Text size="sm">{props.hint ?? say('keys.shownOnceHint')}</Text>
    </SecretOnce>
  )
}
