import { parseTemplate } from '../model/api/template.ts'
import type { PathSegment } from './router.ts'

/** A listen path as the router stores it: placeholders with their pattern anchored, words as requests spell them. */
export function routeSegments(listenPath: string): PathSegment[] {
  return parseTemplate(listenPath).map((segment) => {
    if (typeof segment === 'string') return segment
    const source = segment.pattern ?? ''
    return { source, pattern: source === '' ? undefined : new RegExp(`^(?:${source})$`) }
  })
}
