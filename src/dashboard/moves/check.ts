import { toFault } from '../../errors/fault.ts'
import { placeOf } from '../../model/api/place.ts'
import { readNewApi } from '../../model/api/read.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { isKeyHash } from '../../model/key.ts'
import { idsOf } from '../../publish/api-ids.ts'
import { foreignNeighbour } from '../../publish/api-place.ts'
import { storedClient } from '../../publish/oauth-client-parts.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'

/** What stands in the way of a move: an object that the caller's organisation cannot have, and why. */
export interface Obstacle {
  readonly kind: 'api' | 'place' | 'definition' | 'client' | 'key'
  readonly id: string
  readonly why: string
}

const FOREIGN = 'another organisation of this installation has it'

/**
 * What the caller cannot know: ids and listen paths that other organisations have, and definitions that this installation does not
 * take. Nothing of the others is named.
 */
export async function obstaclesTo(parts: DashboardParts, call: Call): Promise<Obstacle[]> {
  const { apis, client_ids: clients, key_hashes: keys } = call.object()
  const orgId = call.actor!.orgId
  const found: Obstacle[] = []
  for (const api of listOf(apis, isObject)) found.push(...(await obstaclesOfApi(parts, orgId, api)))
  for (const id of listOf(clients, isText)) {
    const stored = await storedClient(parts, id)
    if (stored !== undefined && stored.body.org_id !== orgId) found.push({ kind: 'client', id, why: FOREIGN })
  }
  for (const id of listOf(keys, isText)) {
    const row = isKeyHash(id) ? await parts.tokens.getSession(Buffer.from(id, 'hex')) : undefined
    if (row !== undefined && row.orgId !== orgId) found.push({ kind: 'key', id, why: FOREIGN })
  }
  return found
}

async function obstaclesOfApi(parts: DashboardParts, orgId: string, sent: JsonObject): Promise<Obstacle[]> {
  const format = sent.format === 'oas' ? 'oas' : 'classic'
  const definition = isObject(sent.definition) ? sent.definition : {}
  let id = ''
  try {
    id = idsOf(format, definition).apiId
    const api = readNewApi({ format, definition, api_id: id, org_id: orgId, name: '' })
    const named = await parts.documents.find('api', 'api_id', id)
    if (named !== undefined && named.body.org_id !== orgId) return [{ kind: 'api', id, why: FOREIGN }]
    if (placeOf(api) === undefined || mayCollide(parts)) return []
    const why = await foreignNeighbour(parts, api, [])
    return why === undefined ? [] : [{ kind: 'place', id, why: `${api.listenPath}: ${FOREIGN}` }]
  } catch (error) {
    const { code, message } = toFault(error)
    if (code === 'internal' || code === 'store_away') throw error
    return [{ kind: 'definition', id, why: message }]
  }
}

/** True where an API may be stored although its listen path is taken. */
export function mayCollide({ config }: Pick<DashboardParts, 'config'>): boolean {
  return config.gateway.enable_duplicate_slugs || config.dashboard.enable_duplicate_slugs
}

function listOf<T>(value: unknown, is: (entry: unknown) => entry is T): T[] {
  return Array.isArray(value) ? value.filter(is) : []
}

const isText = (value: unknown): value is string => typeof value === 'string'
