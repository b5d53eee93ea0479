import type { Api } from '../model/api.ts'
import type { PathSegment } from './router.ts'

/** Which part of the installation's APIs a node takes. */
export interface NodeShard {
  readonly segmented: boolean
  readonly tags: readonly string[]
}

/**
 * True when this node loads the API: a node that is not segmented loads everything; a segmented one only APIs that share
 * a tag with it, compared exactly. Without tags on either side nothing is shared.
 */
export function loadsHere(api: Pick<Api, 'tags'>, shard: NodeShard): boolean {
  if (!shard.segmented) return true
  return api.tags?.some((tag) => shard.tags.includes(tag)) ?? false
}

/** The place that an API answers at, as one text: two APIs with equal places collide. */
export function placeKey(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): string {
  const path = segments.map((segment) => (typeof segment === 'string' ? segment : `{${segment.source}}`)).join('/')
  return `${domain} ${ignoreCase ? path.toLowerCase() : path}${ignoreCase ? ' i' : ''}`
}
