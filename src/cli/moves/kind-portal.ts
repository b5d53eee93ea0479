import { createHash } from 'node:crypto'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { entriesOf, readEntries } from '../../model/portal/catalogue/catalogue.ts'
import { readConfiguration } from '../../model/portal/settings/portal-configuration.ts'
import { readCss, readJs, readMenus } from '../../model/portal/settings/portal-look.ts'
import { readPage } from '../../model/portal/settings/portal-page.ts'
import { type DashboardApi, eachOf, segment } from './dashboard.ts'
import { flawsThrown, type MoveFlaw, type MoveKind, type ObjectReference, type RemoteObject, textAt } from './kind.ts'
import { omitMembers, pruned, sameJson } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

const AT_ONCE = 8
const SOLES = ['configuration', 'menus', 'css', 'js', 'catalogue'] as const
const OF_STORAGE = ['id', '_id', 'org_id'] as const

/** The singletons of a portal: configuration, menus, style sheets, script and catalogue. None is ever deleted. */
export const PORTAL: MoveKind = {
  name: 'portal',
  choice: 'portal',
  one: 'portal setting',
  folder: 'portal',
  identityAt: 'part',
  head: ['part'],
  deletable: false,
  findsNew: false,
  normal: shortSole,
  secrets: (body) => (body.part === 'configuration' || body.part === 'catalogue' ? secretPlaces(body) : []),
  flaws: soleFlaws,
  references: catalogueReferences,
  claims: () => [],
  async list({ api }) {
    const parts: RemoteObject[] = []
    for (const part of SOLES) parts.push(await readSole(api, part))
    return parts
  },
  find: ({ api }, { at }) => readSole(api, at),
  create: ({ api }, body) => writeSole(api, {}, body),
  update: ({ api }, there, body) => writeSole(api, there.body, body),
  remove: async () => {},
}

/** Pages of the portal, by their slugs. */
export const PAGES: MoveKind = {
  name: 'portal pages',
  choice: 'portal',
  one: 'page',
  folder: 'portal/pages',
  identityAt: 'slug',
  head: ['slug', 'title', 'is_homepage'],
  deletable: true,
  findsNew: false,
  normal: (body) => pruned(omitMembers(body, ...OF_STORAGE)),
  secrets: () => [],
  flaws: (body) => flawsThrown(() => readPage(body), body),
  references: () => [],
  claims: (body) =>
    body.is_homepage === true ? [{ what: 'home page', flaw: 'name_taken', path: ['is_homepage'] }] : [],
  async list({ api }) {
    const { Data } = await api.get('/api/portal/pages?p=-1')
    return Array.isArray(Data) ? Data.filter(isObject).map(pageThere) : []
  },
  async find({ api }, { at }) {
    const found = await api.find(`/api/portal/pages/${segment(at)}`)
    return found && pageThere(found)
  },
  async create({ api }, body) {
    await api.send('POST', '/api/portal/pages', body)
  },
  async update({ api }, there, body) {
    await api.send('PUT', `/api/portal/pages/${segment(there.at)}`, body)
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/portal/pages/${segment(there.at)}`)
  },
}

/** Documentation, by what it is about and of which sort; the catalogue names it so. */
export const DOCUMENTATION: MoveKind = {
  name: 'portal documentation',
  choice: 'portal',
  one: 'documentation',
  folder: 'portal/documentation',
  identityAt: 'name',
  head: ['name', 'api_id', 'doc_type', 'text'],
  deletable: true,
  findsNew: false,
  normal: (body) => pruned(omitMembers(body, ...OF_STORAGE, 'date_created')),
  secrets: () => [],
  flaws: (body) =>
    textAt(body, 'text') === '' ? [{ name: 'field_invalid', path: ['text'], why: 'must be a text' }] : [],
  references: () => [],
  claims: () => [],
  list: ({ api }) => documentsOf(api),
  async find({ api }, { at }) {
    return (await documentsOf(api)).find((there) => there.at === at)
  },
  async create({ api }, body) {
    await createDocument(api, body)
  },
  // There is no call that replaces one: another takes its place, in the catalogue too.
  async update({ api }, there, body) {
    const id = await createDocument(api, body)
    const catalogue = await api.get('/api/portal/catalogue?or_empty=true')
    const entries = entriesOf(catalogue)
    if (entries.some((entry) => entry.documentation === there.at)) {
      const apis = entries.map((entry) => (entry.documentation === there.at ? { ...entry, documentation: id } : entry))
      await api.send('PUT', '/api/portal/catalogue', { ...catalogue, apis })
    }
    await api.send('DELETE', `/api/portal/documentation/${segment(there.at)}`)
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/portal/documentation/${segment(there.at)}`)
  },
}

/** Leaves out members that have their usual value. */
function shortSole(body: JsonObject): JsonObject {
  const blank: JsonObject = BLANKS[textAt(body, 'part')] ?? {}
  const said = Object.entries(omitMembers(body, ...OF_STORAGE, 'HashKeys', 'enable_dcr')).filter(
    ([name, value]) => value !== null && !(Object.hasOwn(blank, name) && sameJson(blank[name]!, value)),
  )
  return Object.fromEntries(said)
}

async function readSole(api: DashboardApi, part: string): Promise<RemoteObject> {
  const found = await api.get(`/api/portal/${part}${part === 'catalogue' ? '?or_empty=true' : ''}`)
  const named = part === 'catalogue' ? await withPolicies(api, withNames(found, await namesByDocument(api))) : found
  return { identity: part, body: PORTAL.normal({ ...named, part }), at: part }
}

async function writeSole(api: DashboardApi, before: JsonObject, body: JsonObject): Promise<void> {
  const part = textAt(body, 'part')
  const gone = Object.fromEntries(Object.keys(before).map((name) => [name, null]))
  const said = omitMembers({ ...gone, ...BLANKS[part], ...body }, 'part')
  if (part !== 'catalogue') return void (await api.send('PUT', `/api/portal/${part}`, said))
  const names = new Map([...(await namesByDocument(api))].map(([id, name]) => [name, id]))
  await api.send('PUT', '/api/portal/catalogue', withNames(said, names))
}

/** Values for what a file leaves out: members that are not sent stay. */
const BLANKS: Readonly<Record<string, JsonObject>> = {
  configuration: Object.fromEntries(Object.entries(readConfiguration({})).filter(([name]) => name !== 'enable_dcr')),
  menus: { is_active: false, menus: {} },
  css: { page_css: '', email_css: '' },
  js: { page_js: '' },
  catalogue: { email: '', apis: [] },
}

const CHECKS: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  configuration: (body) => readConfiguration(body),
  menus: (body) => readMenus({ ...BLANKS.menus, ...body }),
  css: (body) => readCss(body, {}),
  js: (body) => readJs(body, {}),
  catalogue: (body) => readEntries(body),
}

function soleFlaws(body: JsonObject): MoveFlaw[] {
  const check = CHECKS[textAt(body, 'part')]
  if (check === undefined) return [{ name: 'field_invalid', path: ['part'], why: `must be one of ${SOLES.join(', ')}` }]
  return flawsThrown(() => check(omitMembers(body, 'part')), body)
}

function catalogueReferences(body: JsonObject): ObjectReference[] {
  if (body.part !== 'catalogue') return []
  return entriesOf(body).flatMap((entry, at): ObjectReference[] => {
    const names = [
      ['policies', 'policy_id'],
      ['apis', 'api_id'],
      ['documentation', 'documentation'],
    ] as const
    return names.flatMap(([to, name]) => {
      const id = textAt(entry, name)
      const idle = id === '' || (name === 'api_id' && textAt(entry, 'policy_id') !== '')
      return idle ? [] : [{ to, id, path: ['apis', at, name] }]
    })
  })
}

/** The catalogue with its documentation called by other names; one that has none is called by none. */
function withNames(catalogue: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const apis = entriesOf(catalogue).map((entry): Json => {
    const name = names.get(textAt(entry, 'documentation'))
    return { ...entry, documentation: name ?? '' }
  })
  return { ...catalogue, apis }
}

/** Entries may name a policy by the id that it has in storage, which is another one elsewhere. */
async function withPolicies(api: DashboardApi, catalogue: JsonObject): Promise<JsonObject> {
  const entries = entriesOf(catalogue)
  if (!entries.some((entry) => isDocumentId(entry.policy_id))) return catalogue
  const { Data } = await api.get('/api/portal/policies?p=-1')
  const rows = Array.isArray(Data) ? Data.filter(isObject) : []
  const ids = new Map(rows.map((row) => [textAt(row, '_id'), textAt(row, 'id')]))
  const apis = entries.map((entry): Json => {
    const id = ids.get(textAt(entry, 'policy_id'))
    return id === undefined || id === '' ? entry : { ...entry, policy_id: id }
  })
  return { ...catalogue, apis }
}

async function namesByDocument(api: DashboardApi): Promise<Map<string, string>> {
  const all = await documentsOf(api)
  return new Map(all.map(({ at, identity }) => [at, identity]))
}

/** Two objects of one type about one API differ by their text. */
async function documentsOf(api: DashboardApi): Promise<RemoteObject[]> {
  const { Data } = await api.get('/api/portal/documentation?p=-1')
  const heads = Array.isArray(Data) ? Data.filter(isObject) : []
  const read = async (head: JsonObject) => api.get(`/api/portal/documentation/${segment(textAt(head, 'id'))}`)
  const whole = await eachOf(heads, AT_ONCE, read)
  const nameOf = (row: JsonObject) => `${textAt(row, 'api_id') || 'none'}.${textAt(row, 'doc_type')}`
  const counts = new Map<string, number>()
  for (const row of whole) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1)
  return whole.map((row) => {
    const { documentation, ...rest } = row
    const text = Buffer.from(String(documentation), 'base64').toString('utf8')
    const digits = createHash('sha256').update(text).digest('hex').slice(0, 8)
    const name = counts.get(nameOf(row)) === 1 ? nameOf(row) : `${nameOf(row)}.${digits}`
    return { identity: name, body: DOCUMENTATION.normal({ ...rest, name, text }), at: textAt(row, 'id') }
  })
}

async function createDocument(api: DashboardApi, body: JsonObject): Promise<string> {
  const documentation = Buffer.from(textAt(body, 'text'), 'utf8').toString('base64')
  const { api_id = '', doc_type = 'swagger' } = body
  const { Message } = await api.send('POST', '/api/portal/documentation', { api_id, doc_type, documentation })
  return String(Message)
}

function pageThere(row: JsonObject): RemoteObject {
  return { identity: textAt(row, 'slug'), body: PAGES.normal(row), at: textAt(row, 'id') }
}
