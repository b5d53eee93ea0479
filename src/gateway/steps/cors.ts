import type { CorsRules } from '../../model/api.ts'
import type { Exchange, Reply, Step } from '../exchange.ts'

const DEFAULT_METHODS = ['GET', 'POST', 'HEAD']
const DEFAULT_HEADERS = ['Origin', 'Accept', 'Content-Type', 'X-Requested-With', 'Authorization']

/**
 * Answers preflights and puts the CORS fields on answers (Fetch standard, "CORS protocol").
 * An origin that is not allowed gets no CORS fields; its browser refuses the answer.
 */
export function cors(rules: CorsRules | undefined): Step | undefined {
  if (rules === undefined) return undefined
  const allowed = originTest(rules.origins)
  // Credentials and `*` exclude each other (Fetch standard): the origin is named then.
  const anyOrigin = rules.origins.includes('*') && !rules.credentials
  const methods = (rules.methods.length > 0 ? rules.methods : DEFAULT_METHODS).join(', ')
  const headers = rules.headers.length > 0 ? rules.headers : DEFAULT_HEADERS
  const anyHeader = headers.includes('*')
  const headerList = headers.join(', ')
  const credentials = rules.credentials ? 'Access-Control-Allow-Credentials: true\r\n' : ''
  const exposed = rules.exposed.length > 0 ? `Access-Control-Expose-Headers: ${rules.exposed.join(', ')}\r\n` : ''
  const maxAge = rules.maxAgeS > 0 ? `Access-Control-Max-Age: ${rules.maxAgeS}\r\n` : ''

  const originFields = (origin: string) =>
    anyOrigin
      ? `Access-Control-Allow-Origin: *\r\n${credentials}`
      : `Access-Control-Allow-Origin: ${origin}\r\nVary: Origin\r\n${credentials}`

  const preflight = (x: Exchange, origin: string): Reply => {
    const asked = x.request.get('access-control-request-headers')
    const granted = anyHeader ? (asked ?? '') : headerList
    const fields = `${originFields(origin)}Access-Control-Allow-Methods: ${methods}\r\n`
    return {
      status: 204,
      fields: granted === '' ? fields + maxAge : `${fields}Access-Control-Allow-Headers: ${granted}\r\n${maxAge}`,
      body: undefined,
    }
  }

  return function cors(x) {
    const origin = x.request.get('origin')
    const isPreflight = x.method === 'OPTIONS' && x.request.get('access-control-request-method') !== undefined
    if (origin === undefined) return undefined
    if (!allowed(origin))
      return isPreflight && !rules.passthrough
        ? { status: 204, fields: 'Vary: Origin\r\n', body: undefined }
        : undefined
    if (isPreflight && !rules.passthrough) return preflight(x, origin)
    x.answerExtra += originFields(origin) + exposed
    return undefined
  }
}

/** A test for origins: exact, `*`, or with one `*` standing for any host label text (`https://*.example.com`). */
function originTest(origins: readonly string[]): (origin: string) => boolean {
  if (origins.length === 0 || origins.includes('*')) return () => true
  const exact = new Set(origins.filter((origin) => !origin.includes('*')).map((origin) => origin.toLowerCase()))
  const wild = origins
    .filter((origin) => origin.includes('*'))
    .map((origin) => {
      const star = origin.indexOf('*')
      return { before: origin.slice(0, star).toLowerCase(), after: origin.slice(star + 1).toLowerCase() }
    })
  return (origin) => {
    const lower = origin.toLowerCase()
    if (exact.has(lower)) return true
    return wild.some(
      ({ before, after }) =>
        lower.length > before.length + after.length &&
        lower.startsWith(before) &&
        lower.endsWith(after) &&
        !lower.slice(before.length, lower.length - after.length).includes('/'),
    )
  }
}
