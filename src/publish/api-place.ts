import { fault } from '../errors/fault.ts'
import { placeOf } from '../model/api/place.ts'
import { collides } from '../model/api/template.ts'
import type { Api } from '../model/api.ts'
import type { DocumentId } from '../model/ids.ts'
import { readable } from './api-plan.ts'
import type { PublishParts } from './parts.ts'

/** Who asks for a place, and what may be said to whoever asks. */
export interface PlaceRules {
  /** True = an API that stands where this one wants to be is no obstacle: the later one is not served. */
  readonly mayCollide: boolean
  /** Given: an API of another organisation is not named. */
  readonly orgId: string | undefined
}

/**
 * The paths of the product itself are refused when a definition is read, but for those that depend on settings.
 * `except`: documents that are no obstacle, because they are replaced or deleted at the same time.
 * @throws Fault `listen_path_taken` (409) naming what stands where this API wants to be
 */
export async function checkPlace(
  parts: PublishParts,
  api: Api,
  except: readonly DocumentId[],
  { mayCollide, orgId }: PlaceRules,
): Promise<void> {
  const [first = '', ...more] = api.listenPath
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
  const own = (first === 'metrics' && more.length === 0) || parts.config.compat.vendor_aliases.includes(first)
  if (own) throw fault('listen_path_taken', `/${first} is answered by the gateway itself`)
  const place = placeOf(api)
  if (place === undefined || mayCollide) return
  const { rows } = await parts.documents.list('api', { where: { place }, limit: 1000 })
  for (const row of rows) {
    if (except.includes(row.id)) continue
    const other = readable(row)
    if (other === undefined || !collides(api, other)) continue
    const foreign = orgId !== undefined && other.orgId !== orgId
    const holder = foreign ? 'an API of another organisation' : `API ${other.apiId} (${other.name})`
    throw fault('listen_path_taken', `${api.listenPath} is the listen path of ${holder}`)
  }
}
