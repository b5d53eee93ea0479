import { Text } from '@mantine/core'
import type { Access } from '../../api/portal/developers.ts'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { fullTime } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

/** Shows a key, or an OAuth app with its secret, this once. */
export function GivenAccess(props: {
  readonly access: (Access & { readonly valid_until?: string }) | undefined
  readonly onDone: () => void
}) {
  const { access } = props
  const isRotated = access?.valid_until !== undefined
  return (
    <SecretOnce title={titleOf(access)} secrets={secretsOf(access)} onDone={props.onDone}>
      {warningsOf(access).map((warning) => (
        <Text key={warning} size="sm">
          {warning}
        </Text>
      ))}
      {isRotated && (
        <Text size="sm">
          {access.valid_until === ''
            ? say('portal.oldEnded')
            : say('portal.oldUntil', { at: fullTime(access.valid_until ?? '') })}
        </Text>
      )}
    </SecretOnce>
  )
}

/** A dialog that is closing still has a name. */
function titleOf(access: Access | undefined): string {
  return say(access === undefined || 'RawKey' in access ? 'portal.keyMade' : 'portal.appMade')
}

function warningsOf(access: Access | undefined): readonly string[] {
  return access !== undefined && 'RawKey' in access ? (access.warnings ?? []) : []
}

function secretsOf(access: Access | undefined) {
  if (access === undefined) return undefined
  if ('RawKey' in access) return [{ name: say('portal.key'), value: access.RawKey }]
  return [
    { name: say('portal.clientId'), value: access.client_id },
    { name: say('portal.clientSecret'), value: access.secret },
  ]
}
