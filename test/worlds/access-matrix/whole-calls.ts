import type { Route } from '../../../src/dashboard/routes/route.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { WHOLE_SESSION } from '../model/whole-session.ts'
import { EXPECTED, type Thing } from './expectations.ts'
import { callOf } from './matrix-rows.ts'
import type { World } from './matrix-world.ts'

const SESSION = (() => {
  const { certificate: _bound, mtls_static_certificate_bindings: _too, basic_auth_data: _user, ...rest } = WHOLE_SESSION
  return { ...rest, expires: 0, apply_policies: [] } as JsonObject
})()
const { api_id: _own, ...RIGHT } = (WHOLE_SESSION.access_rights as Record<string, JsonObject>).orders!
export function pathIn(world: World, route: Route): string {
  const names: readonly Thing[] = EXPECTED.get(callOf(route))?.names ?? []
  let number = 0
  return route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(world.open[names[number++] ?? 'none']))
}

/** Members that make a call succeed, or get far, over those that a read shows: of new things other names. */
const OWN: Readonly<Record<string, JsonObject>> = {
  'POST /admin/users': { email_address: 'new@example.test', id: '' },
  'POST /api/users': { email_address: 'new@example.test', id: '' },
  'POST /admin/organisations': { owner_slug: 'new', id: '' },
  'POST /admin/organisations/{}/permissions': { key: 'new', label: 'New' },
  'POST /admin/org/keys': { org_id: 'new', rate: 1, per: 1, tags: [], meta_data: {} },
  'POST /api/bootstrap': { token: 't', organisation: 'o', email: 'a@example.test', password: 'a-Long-enough-1' },
  'PUT /api/apis/{}/webhooks': { hook_references: [{ event_name: 'QuotaExceeded', hook: { id: '', name: 'none' } }] },
  'POST /api/portal/policies': { name: 'New', id: 'new', _id: '' },
  'POST /api/portal/developers': { keys: {}, subscriptions: {}, oauth_clients: {} },
  'POST /api/portal/developers/verify_credentials': { username: 'a@example.test', password: 'a-Long-enough-1' },
  'POST /api/tib/profiles': { ID: 'new-profile' },
  'POST /api/apis/oauth/{}': { client_id: 'new', secret: 'secret-of-the-client' },
  'POST /admin/apis/import': { apis: [] },
  'POST /admin/policies/import': { Data: [] },
  'POST /admin/organisations/import': { id: '5e9d9544a1dcd60001d0ed20', owner_slug: 'imported' },
  'POST /api/assets': { id: 'new-asset', _id: '' },
  'POST /api/hooks': { id: '' },
  'POST /api/labels': { id: '', name: 'New label', key: 'new_label' },
  'POST /api/apis/keys/basic/{}': { basic_auth_data: { password: 'a-Long-enough-1' } },
  'POST /api/apis/migrate': { mode: 'dryRun', apiIDs: [], abortOnFailure: false, overrideStaged: false },
  'POST /api/portal/documentation': { documentation: 'dGV4dA==' },
  'PUT /api/org/second-factor': { required: false },
  'POST /api/passkeys': { name: 'n', response: { id: 'i', response: {} } },
  'POST /api/password/reset': { token: 't', new_password: 'a-Long-enough-1' },
  'POST /portal/register': { email: 'a@example.test', password: 'a-Long-enough-1' },
  'POST /portal/password/reset': { token: 't', new_password: 'a-Long-enough-1' },
  'POST /api/session/verify': { passkey: { id: 'i', response: {} } },
  'POST /api/login/continue': { ticket: 't'.repeat(43), passkey: { id: 'i', response: {} } },
  'POST /api/login/passkey': { ticket: 't'.repeat(43), response: { id: 'i', response: {} } },
}
/** The same where it depends on what there is. */
function ownIn({ open }: World): Readonly<Record<string, JsonObject>> {
  const subscription = { apply_policies: [open.policy], oauth_info: { redirect_uri: 'https://app.example/callback' } }
  return {
    'POST /api/portal/developers/{}/keys': subscription,
    'POST /api/portal/developers/{}/subscriptions': subscription,
    'POST /api/portal/requests': { ...subscription, by_user: open.developer },
    'POST /api/moves/keys': { session: { access_rights: { [open.api]: RIGHT } } },
    'POST /api/moves/clients': { policies: [open.policy], api_ids: [open.api] },
  }
}

/** Calls whose example says less than what a read shows. */
const AS_READ: ReadonlySet<string> = new Set(['PUT /api/apis/{}', 'PUT /api/apis/oas/{}'])
const SESSIONS: ReadonlySet<string> = new Set([
  ...['POST /api/keys', 'POST /api/keys/preview', 'PUT /api/keys/{}', 'POST /api/keys/{}'],
  ...['PUT /api/apis/{}/keys/{}', 'POST /api/apis/keys/basic/{}'],
])

/** A call with a whole body. */
export interface WholeCall {
  readonly route: Route
  /** All that a read of the same thing shows, and members that make the call succeed, or get far. */
  readonly base: JsonObject
  /** Reads what the call may have changed. */
  readonly readers: readonly (Route | undefined)[]
}

export interface WholeCalls {
  /** Every call that takes JSON. */
  all(): AsyncIterable<WholeCall>
  of(route: Route): Promise<WholeCall>
  /** Sends a body as one who may; afterwards everything is as it was. `read`: reads what it may have changed, too. */
  send(call: WholeCall, body: Json, more?: { readonly read?: boolean; readonly isRandom?: true }): Promise<Answer>
}

/** The calls of a world with bodies that have all members that a read shows. */
export function wholeCalls(world: World): WholeCalls {
  const { routes } = world.dashboard
  const reads = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [stripped(route.path), route]))
  const asOf = async (route: Route) => {
    if (route.access === 'installation') return 'installation'
    return route.access === 'public' ? undefined : world.actor('admin', EXPECTED.get(callOf(route))!)
  }
  const read = async (route: Route | undefined): Promise<Json> => {
    if (route === undefined || route.once) return null
    const { status, json } = await world.call('GET', pathIn(world, route), { as: await asOf(route) })
    return status === 200 ? (json as Json) : null
  }
  const of = async (route: Route): Promise<WholeCall> => {
    const [call, path] = [callOf(route), stripped(route.path)]
    const below = [...reads].find(
      ([each]) => each.startsWith(`${path}/{`) && !each.slice(path.length + 1).includes('/'),
    )?.[1]
    const [one, list] = [reads.get(path), reads.get(path.replace(/\/\{[^/]*\}$/, ''))]
    const session = { ...SESSION, access_rights: { [world.open.api]: RIGHT } }
    const shown = SESSIONS.has(call) ? session : await read(route.method === 'POST' ? (below ?? one) : one)
    const example = AS_READ.has(call) ? {} : EXPECTED.get(call)?.body
    const base = {
      ...(isObject(shown) ? shown : {}),
      ...(isObject(example) ? example : {}),
      ...OWN[call],
      ...ownIn(world)[call],
    }
    return { route, base, readers: [one, below, list] }
  }
  return {
    of,
    async *all() {
      for (const route of routes)
        if (route.body !== undefined && route.bodyIs !== 'form' && route.bodyIs !== 'upload') yield of(route)
    },
    async send({ route, readers }, body, { read: isRead = true, isRandom } = {}) {
      const path = pathIn(world, route) + (EXPECTED.get(callOf(route))?.query ?? '')
      const answer = await world.call(route.method, path, {
        as: await asOf(route),
        body,
        ...(isRandom && { isRandom }),
      })
      if (isRead && answer.status < 300) await Promise.all(readers.map(read))
      await world.restore()
      return answer
    },
  }
}

function stripped(path: string): string {
  return path.replace(/\/$/, '')
}
