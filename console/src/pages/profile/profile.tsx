import { Alert, Loader, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ME_KEY, readMe } from '../../api/people/profile.ts'
import { useSession } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { say } from '../../texts/say.ts'
import { Credential } from './credential.tsx'
import { Details } from './details.tsx'
import { Security } from './security.tsx'
import { Sessions } from './sessions.tsx'

const ABSENT = { tab: 'details' }
const TABS = ['details', 'security', 'credential', 'sessions'] as const

/** The user's own profile, which needs no permission. */
export default function Profile() {
  const session = useSession()
  const [{ tab }, setWords] = useAddress<'tab'>(ABSENT)
  const me = useQuery({ queryKey: ME_KEY, queryFn: ({ signal }) => readMe(signal) })
  if (me.data === undefined)
    return (
      <>
        <PageHead title={say('profile.title')} />
        {me.isPending ? <Loader role="status" aria-label={say('part.loading')} /> : <FaultBox error={me.error} />}
      </>
    )
  // A user of single sign-on without an account has no credential: nothing of them is stored.
  const isGuest = me.data.access_key === '' && session.via === 'sso'
  return (
    <>
      <PageHead title={say('profile.title')} hint={me.data.email_address} />
      {isGuest && <Alert mb="md">{say('profile.guest')}</Alert>}
      <Tabs value={tab} onChange={(value) => setWords({ tab: value ?? 'details' })} keepMounted={false}>
        <Tabs.List mb="lg">
          {TABS.filter((name) => !isGuest || name === 'details' || name === 'sessions').map((name) => (
            <Tabs.Tab key={name} value={name}>
              {say(`profile.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="details">
          <Details me={me.data} isGuest={isGuest} />
        </Tabs.Panel>
        <Tabs.Panel value="security">
          <Security me={me.data} />
        </Tabs.Panel>
        <Tabs.Panel value="credential">
          <Credential me={me.data} />
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <Sessions />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
