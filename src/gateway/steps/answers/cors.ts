import type { Api, CorsRules } from '../../../model/apis/definition/api.ts'
import { FIELD } from '../../../wire/http1/fields.ts'
import { CORS_FIELDS } from '../../server/cors-fields.ts'
import type { Exchange, Reply, Step } from '../../server/exchange.ts'

const DEFAULT_METHODS = ['GET', 'POST', 'HEAD']
const DEFAULT_HEADERS = ['Origin', 'Accept', 'Content-Type', 'X-Requested-With', 'Authorization']
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const TOKENS = /^[!#$%&'*+.^_`|~0-9A-Za-z, \t-]+$/
const PREFLIGHT: Reply = { status: 204, fields: '', body: undefined }
const VARIES = 'Vary: Origin\r\n'

/** True for the request by which a browser asks whether another may follow (Fetch standard, "CORS-preflight request"). */
export function isPreflight(x: Exchange): boolean {
  return (
    x.method === 'OPTIONS' &&
    x.request.has(FIELD.origin) &&
    x.request.get('access-control-request-method') !== undefined
  )
}

/**
 * Answers preflights and puts the CORS fields on answers (Fetch standard, "CORS protocol"), in the upstream's place. An origin that is
 * not allowed gets none, and its browser refuses the answer. Where any origin is allowed they are the same for all requests; else the
 * answer varies with the origin, also for requests without one.
 */
export function cors({ cors: rules, oauth }: Pick<Api, 'cors'> & Partial<Pick<Api, 'oauth'>>): Step | undefined {
  if (rules === undefined) return undefined
  const moreHeaders = oauth === undefined || oauth.dpop === 'off' ? [] : ['DPoP']
  const any = rules.origins.length === 0 || rules.origins.includes('*')
  const allows = originTest(rules.origins)
  const credentials = rules.credentials ? 'Access-Control-Allow-Credentials: true\r\n' : ''
  const exposed = rules.exposed.length > 0 ? `Access-Control-Expose-Headers: ${rules.exposed.join(', ')}\r\n` : ''
  const maxAge = rules.maxAgeS > 0 ? `Access-Control-Max-Age: ${rules.maxAgeS}\r\n` : ''
  const openFields = 'Access-Control-Allow-Origin: *\r\n'
  const preflightRest = preflightFields(rules, moreHeaders)

  /** Of an allowed origin; undefined for one that is not. */
  const fieldsFor = (x: Exchange): string | undefined => {
    if (any) return openFields
    const origin = x.request.has(FIELD.origin) ? x.request.single('origin') : undefined
    if (origin === undefined || !allows(origin)) return undefined
    return `Access-Control-Allow-Origin: ${origin}\r\n${VARIES}${credentials}`
  }

  return function cors(x) {
    const fields = fieldsFor(x)
    const asks = isPreflight(x)
    // Those of the API whose version this is.
    if (x.corsFields !== CORS_FIELDS.upstream) x.answerExtra = ''
    const isPassed = asks && rules.passthrough && fields !== undefined
    x.corsFields = isPassed ? CORS_FIELDS.both : CORS_FIELDS.gateway
    // Browsers send no credential with a preflight. The rules of a version replace those of its base.
    x.skipAuthentication = isPassed
    if (fields === undefined) x.answerExtra += VARIES
    else if (!asks || rules.passthrough) x.answerExtra += fields + exposed
    else x.answerExtra += fields + preflightRest(x) + maxAge
    return asks && !rules.passthrough ? PREFLIGHT : undefined
  }
}

/** The preflight response besides the origin. `*` is answered with the requested names: it does not cover credentials and `Authorization`. */
function preflightFields(rules: CorsRules, moreHeaders: readonly string[]): (x: Exchange) => string {
  const methods = rules.methods.filter((method) => method !== '')
  const headers = rules.headers.length > 0 ? rules.headers : [...DEFAULT_HEADERS, ...moreHeaders]
  const methodLine = `Access-Control-Allow-Methods: ${(methods.length > 0 ? methods : DEFAULT_METHODS).join(', ')}\r\n`
  const headerLine = `Access-Control-Allow-Headers: ${headers.join(', ')}\r\n`
  const askedMethod = echo('Method', TOKEN)
  const askedHeaders = echo('Headers', TOKENS)
  const methodOf = methods.includes('*') ? askedMethod : () => methodLine
  const headersOf = headers.includes('*') ? askedHeaders : () => headerLine
  return (x) => methodOf(x) + headersOf(x)
}

function echo(what: 'Method' | 'Headers', wanted: RegExp): (x: Exchange) => string {
  const asked = `access-control-request-${what.toLowerCase()}`
  const granted = `Access-Control-Allow-${what === 'Method' ? 'Methods' : what}`
  const varies = `Vary: Access-Control-Request-${what}\r\n`
  return (x) => {
    const value = x.request.get(asked)
    return value === undefined || !wanted.test(value) ? varies : `${granted}: ${value}\r\n${varies}`
  }
}

/** A test for origins: exact, or with one `*` standing for labels or digits (`https://*.example.com`). */
function originTest(origins: readonly string[]): (origin: string) => boolean {
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
        LABELS.test(lower.slice(before.length, lower.length - after.length)),
    )
  }
}

const LABELS = /^[a-z0-9.-]+$/
