/** A path without anything that this file looks at: segments of ordinary characters, or a placeholder alone. */
const ORDINARY = /^(?:\/(?:[\w~-][\w.~-]*|\{\w+\}))*\/?(?:\/\*)?$/
/** A dot segment in any spelling. */
const DOTS = /^(?:\.|%2e){1,2}$/i
const PLACEHOLDER = /\{[^{}]*\}/g

/**
 * The segments of a path in a definition: empty ones do not count, dot segments are resolved in any spelling (RFC 3986 sections 5.2.4 and
 * 6.2.2), as those of requests are. undefined where `..` leaves the root.
 */
export function definedSegments(path: string): string[] | undefined {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    const dots = segment.replace(/%2e/gi, '.')
    if (dots === '..') {
      if (segments.pop() === undefined) return undefined
    } else if (segment !== '' && dots !== '.') segments.push(segment)
  }
  return segments
}

/**
 * Why no request can match a path of a definition that is compared segment by segment (placeholders, perhaps a last `/*`); undefined when
 * one can. Words follow the path.
 */
export function unmatchablePath(path: string, encodedSlashes: boolean): string | undefined {
  if (ORDINARY.test(path)) return undefined
  const instance = path.replace(PLACEHOLDER, 'x')
  const mark = /[?#]/.exec(instance)?.[0]
  if (mark !== undefined)
    return `holds "${mark}", which ends the path of a request (write ${encodeURIComponent(mark)} for the character)`
  if (instance.includes('\\')) return 'holds a backslash (write %5C, which needs allowEncodedSlashes)'
  if (/\p{Cc}/u.test(instance) || !instance.isWellFormed()) return 'holds a character that no path has'
  if (/%(?![0-9a-f]{2})/i.test(instance))
    return 'holds "%" without two hexadecimal digits (write %25 for the character)'
  if (/%00/.test(instance)) return 'holds %00, which is refused in every request'
  if (!encodedSlashes && /%(?:2f|5c)/i.test(instance))
    return 'holds an encoded slash, which is refused without allowEncodedSlashes'
  if (!isUtf8(instance)) return 'holds escapes that are not UTF-8'
  const segments = definedSegments(path)
  if (segments === undefined) return 'leaves the root by ".."'
  const kept = segments.join('/').match(PLACEHOLDER) ?? []
  if (kept.length < (path.match(PLACEHOLDER) ?? []).length) return 'takes a placeholder away by ".."'
  if (instance.split('/').some((segment) => !DOTS.test(segment) && hidesDots(segment)))
    return 'has a segment that becomes "." or ".." once it is decoded or cut at ";", which is refused in every request'
  return undefined
}

function isUtf8(path: string): boolean {
  try {
    for (const [escapes] of path.matchAll(/(?:%[0-9a-f]{2})+/gi)) decodeURIComponent(escapes)
    return true
  } catch {
    return false
  }
}

/** As the reader of requests refuses them (`wire/http1/path.ts`), which decodes a segment three times. */
function hidesDots(segment: string): boolean {
  let text = segment
  for (let i = 0; i <= 3; i++) {
    if (text.split(/[/\\]/).some((piece) => /^\.{1,2}(?:;|$)/.test(piece))) return true
    text = text.replace(/%(?:25|2e|2f|3b|5c)/gi, decodeURIComponent)
  }
  return false
}
