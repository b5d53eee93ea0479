import { mayDo, useIsAdministrator, useSession } from '../../api/people/session.ts'
import type { AuditChange } from '../../api/platform/audit.ts'
import { say } from '../../texts/say.ts'

/** The permission by which a thing of this kind is changed; of others only the dashboard knows who may change them back. */
const CHANGED_BY: Readonly<Record<string, string>> = {
  ...{ api: 'apis', policy: 'policies', session: 'keys', oauth_client: 'oauth', certificate: 'certs', hook: 'hooks' },
  ...{ idp_profile: 'idm', user: 'users', user_group: 'user_groups', developer: 'portal', key_request: 'portal' },
  ...{ portal_configuration: 'portal', portal_documentation: 'portal', portal_look: 'portal', asset: 'api_assets' },
}
const BY_ADMINISTRATORS: readonly string[] = ['label', 'organisation', 'catalogue']

/** Why the user may not undo these changes, as far as it is known before the call. */
export function useUndoRefusal(changes: readonly Pick<AuditChange, 'kind'>[]): string | undefined {
  const session = useSession()
  const isAdmin = useIsAdministrator()
  if (session.unbounded) return say('part.onlyLooks')
  for (const { kind } of changes) {
    if (BY_ADMINISTRATORS.includes(kind) && !isAdmin) return say('audit.adminOnly')
    const permission = CHANGED_BY[kind]
    if (permission !== undefined && !mayDo(session, permission, 'write'))
      return say('part.needsPermission', { permission, intent: 'write' })
  }
  return undefined
}
