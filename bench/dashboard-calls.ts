/** How much there is in the dashboard that is called. */
export interface DashboardSize {
  readonly apis: number
  readonly keys: number
  readonly policies: number
  readonly users: number
  readonly auditRows: number
}

/** Who owns an API, by its number; policies and keys follow. */
export const OWNERS = 10
/** Rows of a page, as the product has it. */
const PAGE = 10

/** A page, a search or a filter: another one each time. */
export interface DashboardCall {
  readonly name: string
  readonly path: (i: number) => string
}

/** The calls that people and scripts make to a dashboard of this size, all allowed to the first owner. */
export function dashboardCalls({ apis, keys, policies, users, auditRows }: DashboardSize): DashboardCall[] {
  /** The same numbers each run, spread over all there are. */
  const spread = (i: number, count: number) => (i * 7919) % Math.max(1, count)
  const page = (i: number, rows: number) => 1 + spread(i, Math.ceil(rows / PAGE))
  /** Of the first owner. */
  const own = (i: number) => `api-${spread(i, Math.ceil(apis / OWNERS)) * OWNERS}`
  const ownPolicy = (i: number) => `policy-${spread(i, Math.ceil(policies / OWNERS)) * OWNERS}`
  const call = (name: string, path: DashboardCall['path']): DashboardCall => ({ name, path })
  return [
    call('APIs, newest first', (i) => `/api/apis?p=${page(i, apis / OWNERS)}`),
    call('APIs by name', (i) => `/api/apis?sort=name&p=${page(i, apis / OWNERS)}`),
    call('APIs, short rows', (i) => `/api/apis?compressed=1&p=${page(i, apis / OWNERS)}`),
    call('APIs with where they are served', (i) => `/api/apis?facts=1&p=${page(i, apis / OWNERS)}`),
    call('APIs, search: many', () => '/api/apis/search?q=api'),
    call('APIs, search: few', (i) => `/api/apis/search?q=${own(i)}`),
    call('APIs, search: none', () => '/api/apis/search?q=nowhere'),
    call('APIs, search by path', (i) => `/api/apis?facts=1&page_size=25&sort=name&q=/${own(i)}/`),
    call('APIs, search by upstream', () => '/api/apis?facts=1&page_size=25&q=127.0.0.1'),
    call('APIs by path, 100 a page', (i) => `/api/apis?facts=1&page_size=100&sort=-listen_path&p=${1 + (i % 10)}`),
    call('APIs of a label', (i) => `/api/apis?labels=tier:${i % 5}`),
    call('APIs of two labels', (i) => `/api/apis?labels=tier:${i % 5}&labels=team:${i % 50}`),
    call('APIs of a category', (i) => `/api/apis?category=area-${i % 20}`),
    call('APIs by way of asking for a key', () => '/api/apis?auth_type=authToken&active=true'),
    call('an API', (i) => `/api/apis/${own(i)}`),
    call('an API as OpenAPI', (i) => `/api/apis/oas/${own(i)}`),
    call('the nodes of an API', (i) => `/api/apis/${own(i)}/nodes`),
    call('who owns an API', (i) => `/api/apis/${own(i)}/access`),
    call('categories', () => '/api/apis/categories'),
    call('names by category', () => '/api/apis/groups'),
    call('labels in use', () => '/api/apis/labels'),
    call('policies', (i) => `/api/portal/policies?p=${page(i, policies / OWNERS)}`),
    call('policies, search', (i) => `/api/portal/policies/search?q=policy-${i % 10}`),
    call('policies of an API', (i) => `/api/portal/policies/search?api_id=${own(i)}`),
    call('a policy', (i) => `/api/portal/policies/${ownPolicy(i)}`),
    call('keys', (i) => `/api/apis/keys?p=${page(i, keys / OWNERS)}`),
    call('keys with their sessions', (i) => `/api/keys/detailed?p=${page(i, keys / OWNERS)}`),
    call('keys with how they stand', (i) => `/api/keys/detailed?facts=1&p=${page(i, keys / OWNERS)}`),
    call('keys, search: many', () => '/api/keys/detailed?q=key'),
    call('keys, search: few', (i) => `/api/keys/detailed?q=key-${String(spread(i, keys)).padStart(7, '0')}`),
    call('keys, search: none', () => '/api/keys/detailed?q=nowhere'),
    call(
      'keys, by the beginning of a hash',
      (i) => `/api/keys/detailed?q=${(0x1000 + spread(i, 0xefff)).toString(16)}`,
    ),
    call('keys of an API', (i) => `/api/apis/${own(i)}/keys`),
    call('keys of an API, search', (i) => `/api/apis/${own(i)}/keys/search?q=key-00`),
    call('keys of a policy', (i) => `/api/keys/detailed?policy=${ownPolicy(i)}`),
    call('users', (i) => `/api/users?p=${page(i, users)}`),
    call('users, search', (i) => `/api/users/search?q=user-${i % users}`),
    call('groups of users', () => '/api/usergroups'),
    call('audit log', (i) => `/api/audit-logs?p=${page(i, auditRows)}`),
    call('audit log of a user', (i) => `/api/audit-logs?user=user-${i % 100}@`),
    call('audit log of an action', () => '/api/audit-logs?action=key.update'),
    call('audit log by address', (i) => `/api/audit-logs?url=api-${spread(i, apis)}`),
    call('audit log by status', () => '/api/audit-logs?status=403'),
    call('nodes', () => '/api/system/nodes'),
    call('the own session', () => '/api/session'),
  ]
}
