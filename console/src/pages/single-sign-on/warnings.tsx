import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlertIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { ORGANISATIONS_KEY, readOrganisation } from '../../api/people/organisations.ts'
import { useSession } from '../../api/people/session.ts'
import { readSsoSettings, SSO_SETTINGS_KEY } from '../../api/people/single-sign-on.ts'
import { say } from '../../texts/say.ts'

/** Warns where nobody can sign in, with any profiles. */
export function SsoOffWarning() {
  const { organisation } = useSession()
  const own = useQuery({
    queryKey: [...ORGANISATIONS_KEY, 'own'],
    queryFn: ({ signal }) => readOrganisation(signal),
    enabled: organisation !== null,
  })
  if (own.data?.sso_enabled !== false) return null
  return <Warning title={say('identity.warnOff')}>{say('identity.warnOffHint')}</Warning>
}

/** Warns where users without a group become administrators. */
export function AdminsWarning() {
  const settings = useSsoSettings()
  if (settings === undefined || settings.warning === '') return null
  return <Warning title={say('identity.warnAdmins')}>{say('identity.warnAdminsHint')}</Warning>
}

/** Names the profiles that let people in by addresses which nobody has verified. */
export function UnverifiedWarning() {
  const names = useSsoSettings()?.trust_unverified_email ?? []
  if (names.length === 0) return null
  return (
    <Warning title={say('identity.warnUnverified', { names: names.join(', ') })}>
      {say('identity.warnUnverifiedHint')}
    </Warning>
  )
}

/** The permissions of users of single sign-on; undefined until known. */
function useSsoSettings() {
  return useQuery({ queryKey: SSO_SETTINGS_KEY, queryFn: ({ signal }) => readSsoSettings(signal) }).data
}

/** Something that should be seen to. */
export function Warning(props: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Alert color="yellow" icon={<TriangleAlertIcon aria-hidden />} title={props.title}>
      {props.children}
    </Alert>
  )
}
