import { isObject, type JsonObject } from '../../model/json/json.ts'
import { CLIENT_REQUIREMENTS } from '../../model/oauth-clients/oauth-client.ts'
import { checkClientText, readClientFields } from '../../model/oauth-clients/oauth-client-fields.ts'
import { clientKey, clientRefOf } from '../../model/oauth-clients/oauth-registration.ts'
import { idsQuery, segment } from './dashboard.ts'
import {
  flawsThrown,
  type MoveFlaw,
  type MoveKind,
  type ObjectReference,
  type RemoteObject,
  type TargetDashboard,
  textAt,
  textsAt,
} from './kind.ts'
import { omitMembers, pruned } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

/** Members that repeat another one, or belong to one installation. */
const SAID_ELSEWHERE = [
  'redirect_uri',
  'policy_id',
  'meta_data',
  'client_secret',
  'org_id',
  'api_id',
  'date_created',
] as const

/** OAuth clients, with where they are registered. Without its secret one gets a new secret where it is made. */
export const CLIENTS: MoveKind = {
  name: 'clients',
  choice: 'clients',
  one: 'OAuth client',
  folder: 'clients',
  identityAt: 'client_id',
  identityOf: clientIdentity,
  head: [
    'client_id',
    'registration_id',
    'client_name',
    'secret',
    'api_ids',
    'registered_by_policy',
    'policies',
    'redirect_uris',
  ],
  own: ['secret'],
  deletable: true,
  findsNew: true,
  normal,
  secrets: (body) => [
    ...(textAt(body, 'secret') === '' ? [] : [['secret']]),
    ...secretPlaces(body.metadata ?? {}, ['metadata']),
  ],
  flaws,
  references,
  claims: () => [],
  list: (place) => readAll(place, undefined),
  async find(place, { identity }) {
    const all = await readAll(place, [clientRefOf(identity).client_id])
    return all.find((there) => there.identity === identity)
  },
  async create({ api }, body) {
    await api.send('POST', '/api/moves/clients', whole(body))
  },
  async update({ api }, _there, body) {
    await api.send('POST', '/api/moves/clients', whole(body))
  },
  async remove({ api }, there) {
    const { client_id: clientId, registration_id: registrationId } = clientRefOf(there.identity)
    const which = `?registration_id=${encodeURIComponent(registrationId)}`
    await api.send('DELETE', `/api/moves/clients/${segment(clientId)}${which}`)
  },
}

function normal(body: JsonObject): JsonObject {
  const redirects = textsAt(body, 'redirect_uris')
  const policies = textsAt(body, 'policies')
  const [redirect, policy, one] = [textAt(body, 'redirect_uri'), textAt(body, 'policy_id'), textAt(body, 'api_id')]
  const { auth_method: method = 'any', dcr_registration, ...rest } = omitMembers(body, ...SAID_ELSEWHERE)
  const registered = isObject(dcr_registration) ? pruned(dcr_registration) : {}
  const said = pruned({
    ...rest,
    client_id: textAt(body, 'client_id'),
    secret: body.secret ?? body.client_secret ?? '',
    api_ids: [...new Set([...textsAt(body, 'api_ids'), ...(one === '' ? [] : [one])])].sort(),
    policies: policies.length > 0 || policy === '' ? policies : [policy],
    redirect_uris: redirects.length > 0 || redirect === '' ? redirects : [redirect],
    metadata: body.metadata ?? body.meta_data ?? {},
    auth_method: method === 'any' ? '' : method,
    dcr_registration: registered,
  })
  // No grants is something else than those of its APIs.
  return Array.isArray(rest.grant_types) ? { ...said, grant_types: rest.grant_types } : said
}

function flaws(body: JsonObject): MoveFlaw[] {
  const texts = (['client_id', 'secret'] as const).flatMap((name) => {
    const text = textAt(body, name)
    return text === '' ? [] : flawsThrown(() => checkClientText(name, text), body)
  })
  return [...flawsThrown(() => readClientFields(body), body), ...texts]
}

function references(body: JsonObject): ObjectReference[] {
  const policies = textsAt(body, 'policies').map((id, index): ObjectReference => {
    return { to: 'policies', id, path: ['policies', index] }
  })
  return [
    ...textsAt(body, 'api_ids').map((id, index): ObjectReference => ({ to: 'apis', id, path: ['api_ids', index] })),
    ...policies,
  ]
}

/** Fills in what a file leaves out: a client keeps members that are not sent. */
function whole(body: JsonObject): JsonObject {
  const blank = {
    policies: [],
    redirect_uris: [],
    metadata: {},
    description: '',
    auth_method: 'any',
    token_lifetime: 0,
  }
  return {
    ...blank,
    grant_types: null,
    scope: null,
    jwks: null,
    jwks_uri: null,
    certificate: null,
    ...Object.fromEntries(CLIENT_REQUIREMENTS.map((name) => [name, null])),
    ...omitMembers(body, 'registered_by_policy'),
  }
}

async function readAll(
  { api, withSecrets }: TargetDashboard,
  ids: readonly string[] | undefined,
): Promise<RemoteObject[]> {
  const { clients } = await api.get(`/api/moves/clients${withSecrets ? '/secrets' : ''}${idsQuery(ids)}`)
  return Array.isArray(clients) ? clients.filter(isObject).map(thereOf) : []
}

function thereOf(row: JsonObject): RemoteObject {
  const body = normal(row)
  return { identity: clientIdentity(row), body, at: textAt(row, 'client_id') }
}

/** Registrations of one client id at several APIs are objects of their own. */
function clientIdentity(body: JsonObject): string {
  return clientKey({ client_id: textAt(body, 'client_id'), registration_id: textAt(body, 'registration_id') })
}
