import { fault } from '../../errors/fault.ts'
import { ambiguousNames } from './blockers.ts'
import { DashboardApi, eachOf } from './dashboard.ts'
import type { FileFlaw } from './files.ts'
import type { MoveKind, RemoteObject, TargetDashboard } from './kind.ts'
import { type GivenOptions, neededOption } from './options.ts'
import type { TargetState } from './plan.ts'

const AT_ONCE = 3

/** The dashboard that the options name, as its user sees it. @throws Fault `option_invalid`, `dashboard_away`, `dashboard_refused` */
export async function openTarget(
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
  { withSecrets }: { readonly withSecrets: boolean },
): Promise<TargetDashboard & { readonly secret: string }> {
  const url = neededOption(
    given,
    'dashboard',
    'the address of a dashboard, or SVC_SYNC_DASHBOARD',
    env.SVC_SYNC_DASHBOARD,
  )
  const secret = neededOption(
    given,
    'secret',
    'the API credential of a dashboard user, or SVC_SYNC_SECRET',
    env.SVC_SYNC_SECRET,
  )
  const api = new DashboardApi({ url, secret })
  const { org_id: orgId } = await api.get('/api/users/me')
  if (typeof orgId !== 'string' || orgId === '')
    throw fault(
      'option_invalid',
      '--secret: belongs to a user of no organisation; name one of the organisation that is meant',
    )
  return { api, orgId, withSecrets, hooks: {}, secret }
}

/** Everything of some sorts that a dashboard has. @throws Fault `dashboard_away`, `dashboard_refused` */
export async function readTargetState(
  place: TargetDashboard,
  kinds: readonly MoveKind[],
): Promise<{ current: TargetState; flaws: FileFlaw[] }> {
  const lists = await eachOf(kinds, AT_ONCE, (kind) => kind.list(place))
  const flaws = kinds.flatMap((kind, index) => ambiguousNames(kind, lists[index]!))
  const byIdentity = (all: readonly RemoteObject[]) => new Map(all.map((there) => [there.identity, there]))
  return { current: new Map(kinds.map((kind, index) => [kind, byIdentity(lists[index]!)])), flaws }
}
