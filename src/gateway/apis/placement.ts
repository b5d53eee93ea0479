import { foldPath } from '../../model/text/fold-letters.ts'
import type { PathSegment } from '../routing/router.ts'

/** The place that an API answers at, as one text: two APIs with equal places collide. */
export function placeKey(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): string {
  const path = segments
    .map((segment) =>
      typeof segment === 'string' ? (ignoreCase ? foldPath(segment) : segment) : `{${segment.source}}`,
    )
    .join('/')
  return `${domain} ${path}${ignoreCase ? ' i' : ''}`
}
