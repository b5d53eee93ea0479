import { fault, toFault, waitFault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { placeOf } from '../../model/apis/definition/stored-api.ts'
import { readingNewApi } from '../../model/apis/read/read.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { clientRefOf } from '../../model/oauth-clients/oauth-registration.ts'
import { idsOf } from '../../publish/apis/api-ids.ts'
import { foreignConflict } from '../../publish/apis/listen-path.ts'
import { isDeletedElsewhere } from '../../publish/documents/deleted-ids.ts'
import { apisOfRegistration } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { storedClient } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { inTurns, mapInTurns, WorkSlice } from '../../runtime/turns.ts'
import { checkReferences } from '../access/references.ts'
import { usableBy } from '../apis/store-api.ts'
import { checkKeyVisible } from '../keys/key-view.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { isForeignClient } from './clients.ts'
import { checkMemberTypes } from './member-types.ts'

/** A blocker of a move: an object that the caller's organisation cannot have, and why. */
export interface Blocker {
  readonly kind: 'api' | 'place' | 'definition' | 'client' | 'key'
  readonly id: string
  readonly why: string
}

/** Entries of each list in one call. `gatehouse sync` sends 50. */
const MOST_CHECKED = 1000

const LISTS = {
  apis: 'objects',
  client_ids: 'texts',
  key_hashes: 'texts',
  policy_ids: 'texts',
  api_ids: 'texts',
} as const

const FOREIGN = 'this ID cannot be used, choose another one'
const NOT_YOURS = 'it is there, and others own it'
const WAS_NOT_YOURS = 'others owned the API that had it: choose another ID, or ask an administrator'

/**
 * Errors that the caller cannot see: ids and listen paths that other organisations have, or with ownership other owners, references
 * that it may not make, and definitions that this installation does not take. Nothing of the others is named.
 */
export async function blockersOf(parts: DashboardParts, call: Call): Promise<Blocker[]> {
  const { apis, client_ids: clients, key_hashes: keys, policy_ids: policies, api_ids: apiIds } = call.object()
  checkMemberTypes(call.object(), LISTS, 'body_invalid')
  for (const [index, api] of listOf(apis, isObject).entries())
    checkMemberTypes(api, { format: 'text', definition: 'object' }, 'body_invalid', `apis.${index}.`)
  for (const [name, list] of Object.entries({ apis, client_ids: clients, key_hashes: keys }))
    if (Array.isArray(list) && list.length > MOST_CHECKED)
      throw fault('body_invalid', `${name}: more than ${MOST_CHECKED} entries; check them in several calls`)
  countEntries(parts, call, [apis, clients, keys])
  const slice = new WorkSlice()
  const sent = await mapInTurns(listOf(apis, isObject), (api) => ({ api, id: idIn(api) }))
  const brings = {
    api: new Set([...listOf(apiIds, isText), ...sent.map(({ id }) => id)]),
    policy: new Set(listOf(policies, isText)),
  }
  const found: Blocker[] = []
  const look = async (entries: readonly string[], kind: 'client' | 'key', why: typeof whyNotKey) => {
    for (const id of entries) {
      if (slice.isOver) await slice.next()
      const reason = await why(parts, call, id)
      if (reason !== undefined) found.push({ kind, id, why: reason })
    }
  }
  for (const { api } of sent) {
    if (slice.isOver) await slice.next()
    found.push(...(await obstaclesOfApi(parts, call, api, brings)))
  }
  await look(listOf(clients, isText), 'client', whyNotClient)
  await look(listOf(keys, isText), 'key', whyNotKey)
  return found
}

/** Answers tell whether others have a key or client: a user who asks for very many of them waits. @throws Fault `checks_throttled` (429) */
function countEntries({ moveChecks }: DashboardParts, { actor }: Call, lists: readonly unknown[]): void {
  const waitMs = moveChecks.waitMs(actor!.userId)
  if (waitMs > 0) throw waitFault('checks_throttled', waitMs)
  for (const list of lists) for (const _ of Array.isArray(list) ? list : []) moveChecks.begin(actor!.userId)
}

async function whyNotClient(
  parts: DashboardParts,
  { actor, visibility }: Call,
  id: string,
): Promise<string | undefined> {
  const ref = clientRefOf(id)
  const stored = await storedClient(parts, ref)
  if (await isForeignClient(parts, ref, actor!.orgId, stored?.body)) return FOREIGN
  if (stored === undefined) return undefined
  return visibility.anyApi(await apisOfRegistration(parts, stored.body)) ? undefined : NOT_YOURS
}

async function whyNotKey(parts: DashboardParts, call: Call, id: string): Promise<string | undefined> {
  const row = isKeyHash(id) ? await parts.tokens.getSession(Buffer.from(id, 'hex')) : undefined
  if (row === undefined) return undefined
  try {
    await checkKeyVisible(parts, call, row)
    return undefined
  } catch (error) {
    const { code } = toFault(error)
    if (code === 'key_not_owned') return FOREIGN
    if (code === 'not_owner') return NOT_YOURS
    throw error
  }
}

/** `brings`: ids of what the same move brings, so that it may be referred to. */
async function obstaclesOfApi(
  parts: DashboardParts,
  call: Call,
  sent: JsonObject,
  brings: { readonly api: ReadonlySet<string>; readonly policy: ReadonlySet<string> },
): Promise<Blocker[]> {
  const [format, definition, orgId] = [formatOf(sent), definitionIn(sent), call.actor!.orgId]
  let id = ''
  try {
    id = idsOf(format, definition).apiId
    const api = await inTurns(readingNewApi({ format, definition, api_id: id, org_id: orgId, name: '' }))
    const stored = await parts.documents.find('api', 'api_id', id)
    const isForeign =
      stored === undefined ? await isDeletedElsewhere(parts, 'api', id, orgId) : stored.body.org_id !== orgId
    if (isForeign) return [{ kind: 'api', id, why: FOREIGN }]
    if (stored !== undefined && !call.visibility.api(stored)) return [{ kind: 'api', id, why: NOT_YOURS }]
    if (stored === undefined && !call.visibility.anyApi([id])) return [{ kind: 'api', id, why: WAS_NOT_YOURS }]
    await checkReferences(parts, call, 'api', { format, definition }, stored?.body, { made: brings })
    if (placeOf(api) === undefined) return []
    const mayCollide = allowsDuplicateSlugs(parts)
    const rules = { mayCollide, mayUse: usableBy(call), placeBefore: stored?.body.place }
    const why = await foreignConflict(parts, api, stored === undefined ? [] : [stored.id], rules)
    return why === undefined ? [] : [{ kind: 'place', id, why }]
  } catch (error) {
    const { code, message } = toFault(error)
    if (code === 'internal' || code === 'store_away') throw error
    return [{ kind: 'definition', id, why: message }]
  }
}

/** '' where the definition cannot be read: then it is an obstacle itself. */
function idIn(api: JsonObject): string {
  try {
    return idsOf(formatOf(api), definitionIn(api)).apiId
  } catch {
    return ''
  }
}

const formatOf = ({ format }: JsonObject): ApiDocument['format'] => (format === 'oas' ? 'oas' : 'classic')
const definitionIn = ({ definition }: JsonObject): JsonObject => (isObject(definition) ? definition : {})

/** True where an API may be stored although its listen path is taken. */
export function allowsDuplicateSlugs({ config }: Pick<DashboardParts, 'config'>): boolean {
  return config.gateway.enable_duplicate_slugs || config.dashboard.enable_duplicate_slugs
}

function listOf<T>(value: unknown, is: (entry: unknown) => entry is T): T[] {
  return Array.isArray(value) ? value.filter(is) : []
}

const isText = (value: unknown): value is string => typeof value === 'string'
