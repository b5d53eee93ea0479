import { definitionWarnings } from '../../model/apis/check/definition-warnings.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { slugOf, summaryOf } from '../../model/apis/definition/fill-ids.ts'
import { EXTENSION, isEmpty } from '../../model/apis/definition/members.ts'
import { collides, templateKey } from '../../model/apis/definition/template.ts'
import { toOwnWords, vendorWordsIn } from '../../model/apis/definition/vendor-words.ts'
import { readApi, readNewApi } from '../../model/apis/read/read.ts'
import { withKnownSpelling } from '../../model/apis/schema/member-spelling.ts'
import { certificateRefs } from '../../model/certificates/certificate-refs.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { idsQuery, segment } from './dashboard.ts'
import {
  type Claim,
  flawsThrown,
  type MoveFlaw,
  type MoveKind,
  type MoveWarning,
  type ObjectReference,
  type RemoteObject,
  type TargetDashboard,
  textAt,
  textsAt,
} from './kind.ts'
import { hookNames } from './kind-hooks.ts'
import { omitMembers, pruned, sameJson } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

/** Members of wrappers and of stored definitions that say nothing of an API itself. */
const OF_STORAGE = ['id', 'org_id', 'is_oas'] as const

/** APIs: classic ones as `api_definition`, others as `oas`, each with the metadata outside its definition. */
export const APIS: MoveKind = {
  name: 'apis',
  choice: 'apis',
  one: 'API',
  folder: 'apis',
  identityAt: 'api_id',
  head: ['api_id', 'labels', 'categories', 'hook_references', 'api_definition', 'oas'],
  deletable: true,
  findsNew: true,
  normal,
  secrets: (body) =>
    isOas(body)
      ? secretPlaces(objectAt(body.oas, EXTENSION), ['oas', EXTENSION])
      : secretPlaces(body.api_definition ?? {}, ['api_definition']),
  flaws,
  warnings,
  references,
  claims,
  canCoexist(one, other) {
    try {
      return !collides(readApi(documentIn(one)), readApi(documentIn(other)))
    } catch {
      return true
    }
  },
  async list(place) {
    return readAll(place, undefined)
  },
  async find(place, { identity }) {
    return (await readAll(place, [identity])).find((there) => there.identity === identity)
  },
  async create(place, body) {
    const { api } = place
    if (isOas(body)) await api.send('POST', '/api/apis/oas', body.oas as JsonObject)
    else await api.send('POST', '/api/apis', await wrapperOf(place, body))
    await writeMetadata(place, { categories: [], labels: {} }, body)
  },
  async update(place, there, body) {
    const { api } = place
    if (isOas(body)) {
      if (!sameJson(there.body.oas ?? null, body.oas ?? null))
        await api.send('PUT', `/api/apis/oas/${segment(there.at)}`, body.oas as JsonObject)
    } else if (!sameJson(besidesLabels(there.body), besidesLabels(body)))
      await api.send('PUT', `/api/apis/${segment(there.at)}`, await wrapperOf(place, body))
    await writeMetadata(place, there.body, body)
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/apis/${segment(there.at)}`)
  },
}

/** The document that the checks of the product read. */
export function documentIn(body: JsonObject): ApiDocument {
  const definition = isObject(body.oas) ? body.oas : isObject(body.api_definition) ? body.api_definition : {}
  const format = isOas(body) ? 'oas' : 'classic'
  const name =
    format === 'oas' ? textAt(objectAt(objectAt(definition, EXTENSION), 'info'), 'name') : textAt(definition, 'name')
  return { api_id: textAt(body, 'api_id'), org_id: '', name, format, definition }
}

/** The certificates that an API names, by their fingerprints. */
export function certificatesIn(body: JsonObject): string[] {
  const { format, definition } = documentIn(body)
  return [...new Set(certificateRefs({ format, definition }).map(({ name }) => name))]
}

function isOas(body: JsonObject): boolean {
  return isObject(body.oas)
}

/** Takes the files of a dump, answers of `GET /api/apis/{id}`, and bare definitions of either format. */
function normal(body: JsonObject): JsonObject {
  const { oas, classic } = definitionsIn(body)
  const named = oas === undefined ? textAt(classic, 'api_id') : textAt(objectAt(objectAt(oas, EXTENSION), 'info'), 'id')
  const isBare = oas === undefined && !isObject(body.api_definition)
  const metadata = isBare ? {} : body
  const hooks = Array.isArray(metadata.hook_references) ? metadata.hook_references.map(hookReference) : []
  const id = named || textAt(metadata, 'api_id')
  return pruned({
    api_id: id,
    categories: textsAt(metadata, 'categories'),
    labels: labelsIn(metadata.labels ?? {}),
    hook_references: oas === undefined ? hooks : [],
    api_definition: oas === undefined ? classicDefinition(classic, id) : null,
    oas: oas === undefined ? null : oasDefinition(oas, id),
  })
}

function definitionsIn(body: JsonObject): { oas?: JsonObject; classic: JsonObject } {
  if (holdsDocument(body.oas)) return { oas: inOwnWords('oas', body.oas), classic: {} }
  if (typeof body.openapi === 'string') return { oas: inOwnWords('oas', body), classic: {} }
  return { classic: inOwnWords('classic', isObject(body.api_definition) ? body.api_definition : body) }
}

/** Files may have any vendor's word for ours. One that names the extension twice is left for the dashboard to refuse. */
function inOwnWords(format: 'classic' | 'oas', definition: JsonObject): JsonObject {
  try {
    return withKnownSpelling(format, toOwnWords(format, definition, vendorWordsIn(format, definition)).definition)
  } catch {
    return definition
  }
}

/** True for an OpenAPI document; not for the empty one that programs write beside a classic definition. */
export function holdsDocument(value: Json | undefined): value is JsonObject {
  return isObject(value ?? null) && Object.values(value as JsonObject).some((each) => !isEmpty(each))
}

/** The definition contains the ID too: without it the dashboard would generate a new one. */
function classicDefinition(definition: JsonObject, id: string): JsonObject {
  const said = Object.entries(omitMembers(definition, ...OF_STORAGE)).filter(
    // Absence means the same.
    ([name, value]) => value !== null && !(name === 'path_matching' && ['', 'exact'].includes(String(value))),
  )
  const name = textAt(definition, 'name')
  return {
    slug: slugOf(name),
    active: false,
    ...Object.fromEntries(said),
    tags: textsAt(definition, 'tags'),
    ...(id !== '' && { api_id: id }),
  }
}

function oasDefinition(document: JsonObject, id: string): JsonObject {
  const extension = document[EXTENSION]
  if (!isObject(extension)) return document
  const info = omitMembers(objectAt(extension, 'info'), 'dbId', 'orgId')
  return { ...document, [EXTENSION]: { ...extension, info: { ...info, ...(id !== '' && { id }) } } }
}

/** A webhook is identified by its name, not by its storage ID. */
function hookReference(reference: Json): Json {
  if (!isObject(reference) || !isObject(reference.hook)) return reference
  const { hook } = reference
  return { ...reference, hook: typeof hook.name === 'string' && hook.name !== '' ? { name: hook.name } : hook }
}

/** As `{key: value}`, from any form that callers write. */
function labelsIn(labels: Json): JsonObject {
  if (!Array.isArray(labels)) return isObject(labels) ? labels : {}
  const pairs = labels.filter(isObject).map(({ key, value }) => [String(key ?? ''), value ?? ''] as const)
  return Object.fromEntries(pairs)
}

function flaws(body: JsonObject): MoveFlaw[] {
  const under = isOas(body) ? 'oas' : 'api_definition'
  if (!isObject(body[under])) return [{ name: 'field_invalid', path: [], why: 'holds neither api_definition nor oas' }]
  const document = documentIn(body)
  const labels = Object.entries(objectAt(body, 'labels')).filter(([, value]) => typeof value !== 'string')
  return [
    ...flawsThrown(() => readNewApi(document), document.definition, [under]),
    ...labels.map(([key]): MoveFlaw => ({ name: 'field_invalid', path: ['labels', key], why: 'must be a text' })),
  ]
}

function warnings(body: JsonObject): MoveWarning[] {
  const document = documentIn(body)
  try {
    return definitionWarnings(document).map(({ at, reason }) => ({
      path: [document.format === 'oas' ? 'oas' : 'api_definition', ...at],
      why: reason,
    }))
  } catch {
    // A definition that cannot be read is refused, with its reasons.
    return []
  }
}

function references(body: JsonObject): ObjectReference[] {
  const labels = Object.entries(objectAt(body, 'labels')).map(
    ([id, value]): ObjectReference => ({ to: 'labels', id, path: ['labels', id], value: String(value) }),
  )
  const hooks = Array.isArray(body.hook_references) ? body.hook_references : []
  return [
    ...labels,
    ...hooks.flatMap((reference, index): ObjectReference[] => {
      const name = isObject(reference) && isObject(reference.hook) ? textAt(reference.hook, 'name') : ''
      return name === '' ? [] : [{ to: 'hooks', id: name, path: ['hook_references', index] }]
    }),
  ]
}

/** Cheap, and wider than what collides: `canCoexist` decides. */
function claims(body: JsonObject): Claim[] {
  const { active, domain, listenPath } = summaryOf(documentIn(body))
  if (!active) return []
  const path = isOas(body)
    ? ['oas', EXTENSION, 'server', 'listenPath', 'value']
    : ['api_definition', 'proxy', 'listen_path']
  try {
    return [{ what: `${domain} ${templateKey(listenPath, true)}`, flaw: 'listen_path_taken', path }]
  } catch {
    return []
  }
}

async function readAll(place: TargetDashboard, ids: readonly string[] | undefined): Promise<RemoteObject[]> {
  const { apis } = await place.api.get(`/api/moves/apis${idsQuery(ids)}`)
  const rows = Array.isArray(apis) ? apis.filter(isObject) : []
  const names = rows.some(({ hook_references: hooks }) => Array.isArray(hooks) && hooks.length > 0)
    ? await hookNames(place)
    : new Map<string, string>()
  return rows.map((row) => thereOf(place.orgId, row, names))
}

function thereOf(orgId: string, row: JsonObject, names: ReadonlyMap<string, string>): RemoteObject {
  const stored = row.definition ?? {}
  const definition = (namesOurs(stored, orgId) ? withBareCertificates(stored, orgId) : stored) as JsonObject
  const hooks = Array.isArray(row.hook_references) ? row.hook_references : []
  const named = hooks.map((reference) => {
    const hook = isObject(reference) && isObject(reference.hook) ? reference.hook : undefined
    const name = hook === undefined ? undefined : names.get(textAt(hook, 'id'))
    return name === undefined ? reference : { ...(reference as JsonObject), hook: { name } }
  })
  const said = { categories: row.categories ?? [], labels: row.labels ?? [], hook_references: named }
  const body = normal({ ...said, [row.format === 'oas' ? 'oas' : 'api_definition']: definition })
  return { identity: textAt(row, 'api_id'), body: { ...body, api_id: textAt(row, 'api_id') }, at: textAt(row, 'id') }
}

/** The id of a certificate begins with that of its organisation; the fingerprint alone names it everywhere. */
function withBareCertificates(value: Json, orgId: string): Json {
  if (typeof value === 'string') return isOurs(value, orgId) ? value.slice(orgId.length) : value
  if (Array.isArray(value)) return value.map((item) => withBareCertificates(item, orgId))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withBareCertificates(item, orgId)]))
}

/** Most definitions name no certificate: nothing of them is copied. */
function namesOurs(value: Json, orgId: string): boolean {
  if (typeof value === 'string') return isOurs(value, orgId)
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) if (namesOurs((value as JsonObject)[name]!, orgId)) return true
  return false
}

function isOurs(text: string, orgId: string): boolean {
  const fits = orgId !== '' && text.length === orgId.length + 64 && text.startsWith(orgId)
  return fits && /^[0-9a-f]{64}$/.test(text.slice(orgId.length))
}

async function wrapperOf(place: TargetDashboard, body: JsonObject): Promise<JsonObject> {
  const hooks = Array.isArray(body.hook_references) ? body.hook_references : []
  const ids = hooks.length === 0 ? new Map<string, string>() : await hookNames(place)
  const idOf = (name: string) => [...ids].find(([, other]) => other === name)?.[0]
  // A dashboard with a vendor alias takes a definition that does not say how it matches for one of that vendor.
  return {
    api_definition: { path_matching: 'exact', ...objectAt(body, 'api_definition') },
    categories: body.categories ?? [],
    hook_references: hooks.map((reference) => {
      const name = isObject(reference) && isObject(reference.hook) ? textAt(reference.hook, 'name') : ''
      const id = idOf(name)
      return id === undefined ? reference : { ...(reference as JsonObject), hook: { id, name } }
    }),
  }
}

/** Categories and labels have separate calls. */
async function writeMetadata({ api }: TargetDashboard, before: JsonObject, body: JsonObject): Promise<void> {
  const id = segment(textAt(body, 'api_id'))
  const categories = body.categories ?? []
  if (isOas(body) && !sameJson(before.categories ?? [], categories))
    await api.send('PUT', `/api/apis/oas/${id}/categories`, { categories })
  const [was, is] = [objectAt(before, 'labels'), objectAt(body, 'labels')]
  const changed = Object.entries(is).filter(([key, value]) => was[key] !== value)
  for (const key of Object.keys(was))
    if (!Object.hasOwn(is, key)) await api.send('DELETE', `/api/apis/${id}/labels/${segment(key)}`)
  if (changed.length > 0) await api.send('POST', `/api/apis/${id}/labels`, { labels: Object.fromEntries(changed) })
}

const besidesLabels = (body: JsonObject): JsonObject => omitMembers(body, 'labels')

function objectAt(holder: Json | undefined, name: string): JsonObject {
  const value = isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
  return isObject(value) ? value : {}
}
