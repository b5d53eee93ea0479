import type { JsonObject } from '../../json/json.ts'
import type { CorsRules } from '../definition/api.ts'
import { EXTENSION, flagOf, numberOf, objectOf, textsOf } from '../definition/members.ts'
import { namesAddress } from '../definition/territory.ts'
import { copyTree, type Flaw } from '../definition/tree.ts'
import { VALUES } from '../definition/values.ts'

type Format = 'classic' | 'oas'

/** Where CORS rules are in each format, and its names of the members that credentials depend on. */
const PLACES = {
  classic: {
    path: ['CORS'],
    enabled: 'enable',
    origins: 'allowed_origins',
    exposed: 'exposed_headers',
    headers: 'allowed_headers',
    credentials: 'allow_credentials',
  },
  oas: {
    path: [EXTENSION, 'middleware', 'global', 'cors'],
    enabled: 'enabled',
    origins: 'allowedOrigins',
    exposed: 'exposedHeaders',
    headers: 'allowedHeaders',
    credentials: 'allowCredentials',
  },
} as const

/**
 * The CORS rules of a definition; undefined = off. Credentials together with any origin, which is refused when a definition is saved but
 * may have been stored before, are read as no credentials.
 */
export function readCors(cors: JsonObject): CorsRules | undefined {
  if (!flagOf(cors, 'enable')) return undefined
  const origins = textsOf(cors, 'allowed_origins')
  return {
    origins,
    methods: textsOf(cors, 'allowed_methods').map((method) => method.toUpperCase()),
    headers: namesOf(cors, 'allowed_headers'),
    exposed: namesOf(cors, 'exposed_headers'),
    credentials: flagOf(cors, 'allow_credentials') && unnamed(origins) === undefined,
    maxAgeS: numberOf(cors, 'max_age'),
    passthrough: flagOf(cors, 'options_passthrough'),
  }
}

/** Combinations that cannot be saved: the Fetch standard allows no wildcard with credentials. */
export function corsFlaws(format: Format, definition: JsonObject): Flaw[] {
  const { path, enabled, exposed, credentials, origins } = PLACES[format]
  const cors = corsOf(format, definition)
  if (!flagOf(cors, enabled) || !flagOf(cors, credentials)) return []
  const open = unnamed(textsOf(cors, origins))
  const flaws: Flaw[] = []
  if (open !== undefined) flaws.push({ at: [...path, credentials], reason: `needs origins by name: ${open}` })
  if (namesOf(cors, exposed).includes('*'))
    flaws.push({
      at: [...path, exposed],
      reason: 'must name the headers: "*" counts for none where credentials are allowed',
    })
  return flaws
}

/** CORS rules without any effect: origins that no browser sends, and names that no header has. */
export function idleCorsFlaws(format: Format, definition: JsonObject): Flaw[] {
  const { path, enabled, exposed, headers, origins } = PLACES[format]
  const cors = corsOf(format, definition)
  if (!flagOf(cors, enabled)) return []
  const flaws: Flaw[] = []
  for (const origin of textsOf(cors, origins))
    if (!ORIGIN.test(origin))
      flaws.push({ at: [...path, origins], reason: `"${origin}" is no origin that a browser sends` })
  for (const list of [headers, exposed])
    for (const name of namesOf(cors, list))
      if (VALUES.fieldName(name) !== undefined)
        flaws.push({ at: [...path, list], reason: `"${name}" is no name of a header` })
  return flaws
}

/** `*` may replace labels. */
const ORIGIN = /^(?:\*|null|[a-z][a-z0-9+.-]*:\/\/(?:[\w.*-]+|\[[\da-f:.]+\])(?::(?:\d+|\*))?)$/i

/** A definition of another product as it can be saved, and what was changed for it; undefined = nothing had to be. */
export function withSavableCors(
  format: Format,
  definition: JsonObject,
): { readonly definition: JsonObject; readonly changes: readonly string[] } | undefined {
  if (corsFlaws(format, definition).length === 0) return undefined
  const { exposed, credentials, origins } = PLACES[format]
  const copy = copyTree(definition)
  const cors = corsOf(format, copy)
  const changes: string[] = []
  const open = unnamed(textsOf(cors, origins))
  if (open !== undefined) {
    cors[credentials] = false
    changes.push(`CORS credentials are off, they need origins by name: ${open}`)
  } else {
    cors[exposed] = namesOf(cors, exposed).filter((name) => name !== '*')
    changes.push('the exposed CORS header "*" is left out, it counts for none where credentials are allowed')
  }
  return { definition: copy, changes }
}

/** Entries may hold several names. */
function namesOf(cors: JsonObject, list: string): string[] {
  const names = textsOf(cors, list).flatMap((entry) => entry.split(','))
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

function corsOf(format: Format, definition: JsonObject): JsonObject {
  return PLACES[format].path.reduce<JsonObject>((holder, name) => objectOf(holder, name), definition)
}

/** `*` for the labels in front of a domain that has at least two more, and optionally a port. */
const SUBDOMAINS = /^[a-z][a-z0-9+.-]*:\/\/\*(?:\.[a-z0-9-]+){2,}(?::\d+)?$/i

/** Addresses, whose last label is a number, have no subdomains. */
function namesSubdomains(origin: string): boolean {
  return SUBDOMAINS.test(origin) && !namesAddress(origin.replace(/^.*\*\.|:\d+$/g, ''))
}

/** Why a list lets in origins that it does not name; undefined when it names all. `null` is the origin of every sandboxed page. */
function unnamed(origins: readonly string[]): string | undefined {
  if (origins.length === 0) return 'no list allows any'
  if (origins.includes('*')) return '"*" allows any'
  const open = origins.find(
    (origin) => origin.toLowerCase() === 'null' || (origin.includes('*') && !namesSubdomains(origin)),
  )
  if (open === undefined) return undefined
  return open.includes('*')
    ? `"${open}" allows sites of anybody; write subdomains as https://*.example.com`
    : `"${open}" allows pages of any site`
}
