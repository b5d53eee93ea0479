import { parsePathTemplate, placeholderExpression } from '../../model/apis/definition/template.ts'
import { encodedPath } from '../../model/patterns/readable-path.ts'
import type { PathSegment } from './router.ts'

/** A listen path as the router stores it: placeholders with their pattern anchored, words in the normal form of requests. */
export function routeSegments(listenPath: string, ignoreCase: boolean): PathSegment[] {
  return parsePathTemplate(listenPath).map((segment) => {
    if (typeof segment === 'string') return encodedPath(segment)
    const source = segment.pattern ?? ''
    return { source, pattern: source === '' ? undefined : placeholderExpression(source, ignoreCase) }
  })
}
