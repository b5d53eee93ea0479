import { parsePathTemplate, placeholderExpression } from '../../model/apis/definition/template.ts'
import { encodedPath } from '../../model/patterns/readable-path.ts'
import { foldPath } from '../../model/text/fold-letters.ts'
import type { PathSegment } from './router.ts'

/** A listen path as the router stores it: placeholders with their pattern anchored, words in the normal form of requests. */
export function routeSegments(listenPath: string, ignoreCase: boolean): PathSegment[] {
  return parsePathTemplate(listenPath).map((segment) => {
    if (typeof segment === 'string') return encodedPath(segment)
    const source = segment.pattern ?? ''
    return { source, pattern: source === '' ? undefined : placeholderExpression(source, ignoreCase) }
  })
}

/** The place that an API answers at, as one text: two APIs with equal places collide. */
export function placeKey(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): string {
  const path = segments
    .map((segment) =>
      typeof segment === 'string' ? (ignoreCase ? foldPath(segment) : segment) : `{${segment.source}}`,
    )
    .join('/')
  return `${domain} ${path}${ignoreCase ? ' i' : ''}`
}
