import { fault, toFault } from '../errors/fault.ts'
import { placeOf } from '../model/api/place.ts'
import { collides } from '../model/api/template.ts'
import type { Api } from '../model/api.ts'
import type { DocumentId } from '../model/ids.ts'
import { readablePath } from '../model/readable-path.ts'
import { hashKey } from '../model/secret.ts'
import type { Change } from '../store/ports.ts'
import { readable } from './api-plan.ts'
import { clockOf, type PublishParts, type SecretParts } from './parts.ts'

/** Without `tokens` other threads and processes may take the place at the same time. */
type PlaceParts = PublishParts & Partial<Pick<SecretParts, 'tokens'>>

/** Who asks for a place, and what may be said to whoever asks. */
export interface PlaceRules {
  /** True = an API that stands where this one wants to be is no obstacle: the later one is not served. */
  readonly mayCollide: boolean
  /** Given: an API of another organisation is not named. */
  readonly orgId: string | undefined
}

/** How long a turn is remembered: far longer than any save takes. */
const TURN_MS = 600_000
const MOST_TRIES = 5
/** What a commit fails with whose turn was taken: there was none before, or another one. */
const LOST_TURN: ReadonlySet<string> = new Set(['already_exists', 'ticket_unusable'])

/**
 * The paths of the product itself are refused when a definition is read, but for those that depend on settings.
 * `except`: documents that are no obstacle, because they are replaced or deleted at the same time.
 * Answers what belongs into the commit of the API: with it, of two saves that were checked at the same time on different threads
 * or processes the later one fails and must be checked again (`retriedInTurn`).
 * @throws Fault `listen_path_taken` (409) naming what stands where this API wants to be
 */
export async function checkPlace(
  parts: PlaceParts,
  api: Api,
  except: readonly DocumentId[],
  { mayCollide, orgId }: PlaceRules,
): Promise<Change[]> {
  const [first = '', ...more] = readablePath(api.listenPath)
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
  const own = (first === 'metrics' && more.length === 0) || parts.config.compat.vendor_aliases.includes(first)
  if (own) throw fault('listen_path_taken', `/${first} is answered by the gateway itself`)
  const place = placeOf(api)
  if (place === undefined || mayCollide) return []
  const turn = await turnAt(parts, place)
  const { rows } = await parts.documents.list('api', { where: { place }, limit: 1000 })
  for (const row of rows) {
    if (except.includes(row.id)) continue
    const other = readable(row)
    if (other === undefined || !collides(api, other)) continue
    const foreign = orgId !== undefined && other.orgId !== orgId
    const holder = foreign ? 'an API of another organisation' : `API ${other.apiId} (${other.name})`
    throw fault('listen_path_taken', `${api.listenPath} is the listen path of ${holder}`)
  }
  return turn
}

/** Does the work, and does it again when the turn that it took at a place was taken by another in between. */
export async function retriedInTurn<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === MOST_TRIES || !LOST_TURN.has(toFault(error).code)) throw error
    }
  }
}

/** The change that takes the turn at a place, if nobody else takes it between now and the commit. */
async function turnAt({ tokens, clock }: PlaceParts, place: string): Promise<Change[]> {
  if (tokens === undefined) return []
  const hash = hashKey(`place:${place}`)
  const now = clockOf({ ...(clock && { clock }) }).wall()
  const before = await tokens.getTicket(hash)
  const standing = before === undefined || before.expiresAt <= now ? { ifAbsent: true } : { ifVersion: before.version }
  const expiresAt = now + TURN_MS
  const row = { sort: 'place', apiId: '', clientId: '', family: '', expiresAt, keepUntil: expiresAt, body: {} } as const
  return [{ op: 'putTicket', hash, row, ...standing }]
}
