import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import type { Api, ApiDocument } from '../../model/apis/definition/api.ts'
import { placeKeys, placeOf } from '../../model/apis/definition/stored-api.ts'
import { areDisjointByTags, collides, type ListenPlace } from '../../model/apis/definition/template.ts'
import {
  isSelective,
  isShared,
  pathsOverlap,
  type SharedHosts,
  sharedHosts,
  type Territory,
  territoriesOverlap,
  territoryOf,
} from '../../model/apis/definition/territory.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import { listenPlaceOf } from '../../model/apis/read/read.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { Json } from '../../model/json/json.ts'
import { readablePath } from '../../model/patterns/readable-path.ts'
import { foldLetters } from '../../model/text/fold.ts'
import type { Change, StoredDocument, Where } from '../../store/ports/ports.ts'
import { type OptimisticLockParts, optimisticLock } from '../documents/optimistic-lock.ts'
import type { PublishParts, PublishSettings } from '../documents/parts.ts'
import { readable } from './api-plan.ts'
import { apiWithSameIssuer } from './issuer-conflict.ts'

/** Without `tokens` other threads and processes may claim the place at the same time. */
type ListenPathParts = PublishParts & OptimisticLockParts

/** Who asks for a listen path, and what the refusal may tell them. */
export interface ListenPathRules {
  /** True = an API at the wanted place is no conflict: the later one is not served. */
  readonly mayCollide: boolean
  /** With ownership: false for an API of the same organisation that the caller does not own. Absent: the caller may use all of them. */
  readonly mayUse?: ((stored: StoredDocument) => boolean) | undefined
  /** Where the API is stored now: where it stays, the owners of its neighbours are not judged again. */
  readonly placeBefore?: Json | undefined
  /** The definition that is replaced: where it stays as it is, nothing is judged again, and most saves leave it. */
  readonly before?: ApiDocument | undefined
}

const MOST_PLACES = 1000

/**
 * The paths of the product itself are refused when a definition is read, but for those that depend on settings.
 * `except`: documents that are no obstacle, because they are replaced or deleted at the same time.
 * Answers what belongs into the commit of the API: with it, of two saves that were checked at the same time on different threads
 * or processes the later one fails and must be checked again (`TURN_CONFLICT`).
 * @throws Fault `listen_path_taken` (409) naming what is in its place; of other organisations' APIs it names nothing
 */
export async function checkListenPathFree(
  parts: ListenPathParts,
  api: Api,
  except: readonly DocumentId[],
  rules: ListenPathRules,
): Promise<Change[]> {
  const [first = ''] = segmentsOf(readablePath(api.listenPath))
  const words = segmentsOf(foldLetters(readablePath(api.listenPath)))
  const own =
    (words[0] === 'metrics' && words.length === 1) || ownWords(parts.config.compat.vendor_aliases).includes(words[0]!)
  if (own) throw fault('listen_path_taken', `/${first.toLowerCase()} is answered by the gateway itself`)
  const place = placeOf(api)
  if (place === undefined || staysInPlace(api, rules)) return []
  const holder = await apiWithSameIssuer(parts, api, except)
  if (holder !== undefined) {
    const held = holderName(api, holder.api, holder.row, rules)
    throw fault('listen_path_taken', `${whereabouts(api)} has the issuer of the authorization server of ${held}`)
  }
  if (rules.mayCollide) {
    // Gateways keep listen paths of organisations apart; they do not know owners, nor who asked for the endpoints of an id first.
    const why = await foreignConflict(parts, api, except, rules)
    if (why !== undefined) throw fault('listen_path_taken', why)
    return []
  }
  const turn = await turnAt(parts, api)
  const { rows } = await parts.documents.list('api', { where: { place }, limit: MOST_PLACES })
  for (const row of rows) {
    if (except.includes(row.id)) continue
    const other = readable(row)
    if (other === undefined || !collides(api, other)) continue
    throw fault('listen_path_taken', `${whereabouts(api)} is the listen path of ${holderName(api, other, row, rules)}`)
  }
  const why = await foreignConflict(parts, api, except, rules)
  if (why !== undefined) throw fault('listen_path_taken', why)
  return turn
}

/** Never an API that moves to another organisation, whose neighbours are others, nor an authorization server: its issuer follows from more than its place. */
function staysInPlace(api: Api, { before }: ListenPathRules): boolean {
  if (before === undefined || before.org_id !== api.orgId || api.oauth !== undefined) return false
  const was = listenPlaceOf(before)
  const facts = ({ listenPath, domain, ignoreCase, active, internal, tags = [] }: ListenPlace) => {
    return [listenPath, domain, ignoreCase, active, internal, tags]
  }
  return was !== undefined && isDeepStrictEqual(facts(was), facts(api))
}

/** Why an API may not have its place because of APIs of others; undefined = it may. Their APIs are not named. */
export async function foreignConflict(
  parts: Pick<PublishParts, 'documents' | 'config'>,
  api: Api,
  except: readonly DocumentId[],
  rules: ListenPathRules,
): Promise<string | undefined> {
  return (await foreignNeighbour(parts, api, except, rules)) ?? foreignEndpoints(parts, api, except, rules)
}

/**
 * Why an API may not have its place because of what others have there: at, below or above its listen path, or at its domain.
 * undefined = it may. Others are other organisations, and those whose APIs `mayUse` keeps from the caller.
 */
async function foreignNeighbour(
  parts: Pick<PublishParts, 'documents' | 'config'>,
  api: Api,
  except: readonly DocumentId[],
  { mayUse, placeBefore, mayCollide }: ListenPathRules,
): Promise<string | undefined> {
  const hosts = sharedHosts(ownUrls(parts.config))
  const isMine = mayUse === undefined || placeBefore === placeOf(api)
  if (mayCollide && isMine) return undefined
  const territory = territoryOf(api)
  const owned = !isShared(api.domain, hosts)
  const place = placeOf(api)
  if (place === undefined) return undefined
  const widest = atPlace(place)
  const places: string[] = []
  for (const entries of await neighbours(parts, api, hosts, !isMine))
    for (const [found, orgs] of entries)
      if (!isMine || orgs.some((orgId) => orgId !== api.orgId)) {
        const other = atPlace(found)
        if (territoriesOverlap(widest, other, hosts) || (!isMine && meetsAnywhere(widest, other))) places.push(found)
      }
  for (let from = 0; from < places.length; from += MOST_PLACES) {
    const where = { place: places.slice(from, from + MOST_PLACES) }
    for await (const rows of parts.documents.each('api', { where }))
      for (const row of rows) {
        const other = except.includes(row.id) ? undefined : readable(row)
        if (other === undefined) continue
        if (other.orgId === api.orgId) {
          if (isMine || mayUse(row) || !meetsAnywhere(territory, territoryOf(other))) continue
          return `${whereabouts(api)} overlaps the listen path of an API that you do not own`
        }
        if (mayCollide || !territoriesOverlap(widest, atPlace(placeOf(other)!), hosts)) continue
        if (owned) return `the domain ${api.domain} is used by another organisation`
        if (areDisjointByTags(api.tags, other.tags) || !pathsOverlap(territory, territoryOf(other))) continue
        return `${whereabouts(api)} overlaps a listen path of another organisation`
      }
  }
  return undefined
}

/** True unless no request can reach both APIs of an organisation: without a domain one answers at all domains of its organisation. */
function meetsAnywhere(a: Territory, b: Territory): boolean {
  return (a.domain === b.domain || a.domain === '' || b.domain === '') && pathsOverlap(a, b)
}

function holderName(api: Api, other: Api, row: StoredDocument, { mayUse }: ListenPathRules): string {
  if (other.orgId !== api.orgId) return 'an API of another organisation'
  return mayUse === undefined || mayUse(row) ? `API ${other.apiId} (${other.name})` : 'an API that you do not own'
}

/**
 * Why an API may not take a new place: the authorization server of another owner's API answers there, at `/{api_id}/oauth/`.
 * A path that an organisation has comes before ids of others (`OAuthEndpoints`), so ids block nothing below it.
 */
async function foreignEndpoints(
  { documents, config }: Pick<PublishParts, 'documents' | 'config'>,
  api: Api,
  except: readonly DocumentId[],
  { mayUse, placeBefore }: ListenPathRules,
): Promise<string | undefined> {
  const place = placeOf(api)
  if (place === undefined) return undefined
  const territory = territoryOf(api)
  // One that is not selective overlaps every listen path, and takes nothing from ids.
  if (!isSelective(territory) || placeBefore === place) return undefined
  const isMine = (row: StoredDocument) => row.body.org_id === api.orgId && (mayUse === undefined || mayUse(row))
  const hosts = sharedHosts(ownUrls(config))
  const ends = [...ENDPOINT_SEGMENTS, ...ownWords(config.compat.vendor_aliases)]
  for (const id of await idsAt(documents, territory, ends, mayUse === undefined ? api.orgId : undefined)) {
    const row = await documents.find('api', 'api_id', id)
    const other = row === undefined || except.includes(row.id) || isMine(row) ? undefined : readable(row)
    if (other?.oauth === undefined) continue
    const endpoints: Territory = { domain: other.domain, segments: [id], ignoreCase: api.ignoreCase }
    const below = ends.map((end) => ({ ...endpoints, segments: [id, end] }))
    const isReached = below.some((each) =>
      other.orgId === api.orgId ? meetsAnywhere(territory, each) : territoriesOverlap(territory, each, hosts),
    )
    if (!isReached) continue
    const { domain, head } = placeKeys(place)
    const where: Where = domain === '' ? { place_head: [head, '*'] } : { place_domain: domain }
    const { rows } = await documents.list('api', { where: { ...where, org_id: api.orgId }, limit: MOST_PLACES })
    const isCovered = rows.some((each) => {
      const mine = except.includes(each.id) || !isMine(each) ? undefined : readable(each)
      if (mine === undefined || mine.domain !== api.domain) return false
      const above = territoryOf(mine)
      return above.segments.length <= 1 && pathsOverlap(above, endpoints)
    })
    if (!isCovered) return `${whereabouts(api)} overlaps the endpoints of another API's authorization server`
  }
  return undefined
}

/** The paths of an authorization server after the API's id. */
const ENDPOINT_SEGMENTS: readonly string[] = ['oauth', '.well-known']

/** Ids of APIs whose endpoints a listen path may be at, without those that only `exceptOrg` has. */
async function idsAt(
  documents: PublishParts['documents'],
  territory: Territory,
  ends: readonly string[],
  exceptOrg: string | undefined,
): Promise<string[]> {
  const [first] = territory.segments
  if (typeof first === 'string' && !territory.ignoreCase) return [readablePath(first)]
  const ids = await documents.valuesBy('api', 'api_id', 'org_id', {})
  const isReached = (id: string) =>
    ends.some((end) => pathsOverlap(territory, { domain: '', segments: [id, end], ignoreCase: territory.ignoreCase }))
  const found: string[] = []
  for (const [id, orgs] of ids) if (orgs.some((orgId) => orgId !== exceptOrg) && isReached(id)) found.push(id)
  return found
}

/**
 * Places that may be in the way, with the organisations that have them. Read from indexes alone. `ofOwners`: all of its
 * organisation.
 */
async function neighbours(
  { documents }: Pick<PublishParts, 'documents'>,
  api: Api,
  hosts: SharedHosts,
  ofOwners: boolean,
): Promise<ReadonlyMap<string, readonly string[]>[]> {
  const at = (where: Where) => documents.valuesBy('api', 'place', 'org_id', { where })
  const { head } = placeKeys(placeOf(api)!)
  const own = ofOwners ? [await at({ org_id: api.orgId })] : []
  if (!isShared(api.domain, hosts)) return [...own, await at({ place_domain: api.domain })]
  if (head === '*') return [await at({})]
  return [...own, await at({ place_head: [head, '*'] }), await at({ place_domain: [...hosts] })]
}

/** The largest set of requests that an API at this place can receive. */
function atPlace(place: string): Territory {
  const space = place.indexOf(' ')
  const segments = segmentsOf(place.slice(space + 1)).map((word) =>
    word.startsWith('{') ? { pattern: undefined } : word,
  )
  return { domain: place.slice(0, space), segments, ignoreCase: true }
}

/** The URLs that the gateway and the dashboard are reached by. */
export function ownUrls({ gateway, dashboard }: Pick<PublishSettings, 'gateway' | 'dashboard'>): string[] {
  const edges = dashboard?.edge_endpoints ?? []
  return [gateway.public_url ?? '', dashboard?.public_url ?? '', ...edges.map(({ endpoint }) => endpoint)]
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '')

const whereabouts = ({ listenPath, domain }: Api) => (domain === '' ? listenPath : `${listenPath} at ${domain}`)

/**
 * The turn at an API's domain. On shared hosts there is one turn for all listen paths: whether one is below another cannot be derived from
 * either alone.
 */
function turnAt(parts: ListenPathParts, { domain }: Api): Promise<Change[]> {
  return optimisticLock(parts, `place:${isShared(domain, sharedHosts(ownUrls(parts.config))) ? '' : domain}`)
}
