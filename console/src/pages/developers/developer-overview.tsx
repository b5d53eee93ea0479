import type { Developer } from '../../api/portal/developers.ts'
import { count, When } from '../../parts/display/when.tsx'
import { Overview } from '../../parts/overview/overview.tsx'
import { say } from '../../texts/say.ts'

/** The state of a developer: the traffic of all keys and apps, how many there are, and the latest changes. */
export function DeveloperOverview({ developer }: { readonly developer: Developer }) {
  const apps = Object.values(developer.oauth_clients).reduce((sum, list) => sum + list.length, 0)
  return (
    <Overview
      kind="developer"
      id={developer.id}
      traffic={{ developer: developer.id }}
      facts={[
        { name: say('overview.state'), value: say(developer.inactive ? 'overview.inactive' : 'overview.active') },
        { name: say('overview.keys'), value: count(Object.keys(developer.keys).length) },
        { name: say('overview.apps'), value: count(apps) },
        { name: say('overview.lastSignIn'), value: <When at={developer.last_login_date} /> },
      ]}
    />
  )
}
