import type { User } from '../../api/people/users.ts'
import { When } from '../../parts/display/when.tsx'
import { Overview } from '../../parts/overview/overview.tsx'
import { say } from '../../texts/say.ts'

/** The state of a user: group, last sign-in, and the latest changes. */
export function UserOverview({ user }: { readonly user: User }) {
  return (
    <Overview
      kind="user"
      id={user.id}
      facts={[
        { name: say('overview.state'), value: say(user.active ? 'overview.active' : 'overview.inactive') },
        { name: say('overview.group'), value: user.group_name || say('overview.none') },
        { name: say('overview.lastSignIn'), value: <When at={user.last_login_date} /> },
      ]}
    />
  )
}
