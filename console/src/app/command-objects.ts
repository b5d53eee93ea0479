import {
  IdCardIcon,
  KeyRoundIcon,
  type LucideIcon,
  ShieldCheckIcon,
  TagsIcon,
  TextSearchIcon,
  UserIcon,
  UsersIcon,
  UsersRoundIcon,
  WaypointsIcon,
  WebhookIcon,
} from 'lucide-react'
import { call, isRecord, type Sent } from '../api/calls/call.ts'
import { mayDo, type Session } from '../api/people/session.ts'
import { say } from '../texts/say.ts'

/** The search results, by the name of their page. */
export const ICONS = {
  'shell.apis': WaypointsIcon,
  'shell.policies': ShieldCheckIcon,
  'shell.keys': KeyRoundIcon,
  'shell.developers': UsersIcon,
  'shell.users': UserIcon,
  'shell.groups': UsersRoundIcon,
  'shell.identity': IdCardIcon,
  'shell.webhooks': WebhookIcon,
  'shell.labels': TagsIcon,
  'shell.requests': TextSearchIcon,
} as const satisfies Readonly<Record<string, LucideIcon>>

type Kind = keyof typeof ICONS

/** Something that was found by its name. */
export interface Found {
  readonly to: string
  readonly label: string
  readonly kind: Kind
}

type Row = Readonly<Record<string, unknown>>

interface Search {
  readonly permission: string
  readonly kind: Kind
  readonly ask: (text: string) => readonly [method: string, path: string, sent: Sent]
  /** Member of the answer that holds the rows. */
  readonly list: string
  readonly read: (row: Row) => Omit<Found, 'kind'> | undefined
  /** The dashboard does not search these, of which there are few: all are read. */
  readonly isWhole?: true
}

const MOST = 5
/** A request id, ours or that of a proxy; shorter words are names. */
const REQUEST_ID = /^[A-Za-z0-9._:+/=@~-]{12,128}$/
/** Ours: worth a look at its page even where nothing is recorded, which says why. */
const OWN_REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const EVERY: Sent = { query: { p: -1 } }

const SEARCHES: readonly Search[] = [
  {
    permission: 'apis',
    kind: 'shell.apis',
    ask: (q) => ['GET', '/api/apis/search', { query: { q, compressed: 1 } }],
    list: 'apis',
    read: ({ api_definition: api }) => (isRecord(api) ? named(api, '/apis', 'api_id', 'name') : undefined),
  },
  {
    permission: 'policies',
    kind: 'shell.policies',
    ask: (q) => ['GET', '/api/portal/policies/search', { query: { q } }],
    list: 'Data',
    read: (row) => named(row, '/policies', '_id', 'name'),
  },
  {
    permission: 'keys',
    kind: 'shell.keys',
    ask: (q) => ['GET', '/api/keys/detailed', { query: { q, p: 1 } }],
    list: 'keys',
    read: keyRow,
  },
  {
    permission: 'portal',
    kind: 'shell.developers',
    ask: (q) => ['GET', '/api/portal/developers', { query: { q } }],
    list: 'Data',
    read: (row) => named(row, '/developers', 'id', 'email'),
  },
  {
    permission: 'users',
    kind: 'shell.users',
    ask: (q) => ['POST', '/api/users/search', { body: { filters: { query: q } } }],
    list: 'users',
    read: (row) => named(row, '/users', 'id', 'email_address'),
  },
  {
    ...{ permission: 'user_groups', kind: 'shell.groups', list: 'groups', isWhole: true },
    ask: () => ['GET', '/api/usergroups', EVERY],
    read: (row) => named(row, '/groups', 'id', 'name'),
  },
  {
    ...{ permission: 'idm', kind: 'shell.identity', list: 'Data', isWhole: true },
    ask: () => ['GET', '/api/tib/profiles', {}],
    read: (row) => named(row, '/identity', 'ID', 'Name'),
  },
  {
    ...{ permission: 'hooks', kind: 'shell.webhooks', list: 'hooks', isWhole: true },
    ask: () => ['GET', '/api/hooks', EVERY],
    read: (row) => named(row, '/webhooks', 'id', 'name'),
  },
  {
    ...{ permission: 'apis', kind: 'shell.labels', list: 'labels', isWhole: true },
    ask: () => ['GET', '/api/labels', EVERY],
    read: ({ name }) =>
      typeof name === 'string' ? { to: `/labels?q=${encodeURIComponent(name)}`, label: name } : undefined,
  },
]

/** The visible objects whose name contains the text; a failed search finds nothing, so that the others show. */
export async function findObjects(session: Session, text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const searches = SEARCHES.filter(({ permission }) => mayDo(session, permission, 'read'))
  const request = findRequest(session, text, signal)
  const answers = await Promise.allSettled(
    searches.map(async ({ ask, list, kind, read, isWhole }) => {
      const [method, path, sent] = ask(text)
      const answer = await call(method, path, { ...sent, signal })
      const rows = isRecord(answer) && Array.isArray(answer[list]) ? answer[list].filter(isRecord) : []
      const found = rows.flatMap((row) => read(row) ?? [])
      const fits = isWhole ? found.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase())) : found
      return fits.slice(0, MOST).map((one) => ({ ...one, kind }))
    }),
  )
  return [...(await request), ...answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))]
}

/** The request of an id. */
async function findRequest(session: Session, id: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (!REQUEST_ID.test(id) || !mayDo(session, 'log', 'read')) return []
  const found = {
    ...{ to: `/requests?request_id=${encodeURIComponent(id)}`, kind: 'shell.requests' as const },
    label: say('requests.lookup', { id }),
  }
  if (OWN_REQUEST_ID.test(id)) return [found]
  const query = { request_id: id, page_size: 1 }
  const answer = await call('GET', '/api/logs', { query, signal }).catch(() => undefined)
  return isRecord(answer) && Array.isArray(answer.data) && answer.data.length > 0 ? [found] : []
}

function named(row: Row, at: string, id: string, name: string): Omit<Found, 'kind'> | undefined {
  if (typeof row[id] !== 'string') return undefined
  return { to: `${at}/${encodeURIComponent(row[id])}`, label: String(row[name] || row[id]) }
}

/** A key by its alias, else by the start of its hash. */
function keyRow({ key_hash: hash, data }: Row): Omit<Found, 'kind'> | undefined {
  if (typeof hash !== 'string') return undefined
  const alias = isRecord(data) && typeof data.alias === 'string' ? data.alias : ''
  return { to: `/keys/${hash}`, label: alias === '' ? hash.slice(0, 12) : alias }
}
