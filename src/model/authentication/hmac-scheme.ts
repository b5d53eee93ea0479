import { pair } from '../apis/convert/convert-pairs.ts'
import { numberOf, textOf, textsOf } from '../apis/definition/members.ts'
import type { Flaw } from '../apis/definition/tree.ts'
import { list, MAX_SKEW_S, number, oneOf, text } from '../apis/schema/schema.ts'
import type { JsonObject } from '../json/json.ts'
import type { Scheme } from './scheme.ts'

const SIGNATURE_SKEW_MS = 300_000

/** Signature algorithms that requests may use unless the definition lists others. */
const HMAC_DEFAULTS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const
/** All that a definition may list. */
const HMAC_ALGORITHMS: readonly string[] = ['hmac-sha1', ...HMAC_DEFAULTS]

/** The rules of signed requests in a definition. */
export interface HmacRules {
  /** Names in lower case, as requests write them (`hmac-sha256`). */
  readonly algorithms: readonly string[]
  /** How far the date of a request may lie from now; infinite = it is not looked at. */
  readonly skewMs: number
  readonly coverage: HmacCoverage
}

/**
 * Parts of a request that a signature of draft-cavage must cover besides its date: `target` = method, path and query; `path` = the query
 * may be left out; `date` = nothing else.
 */
export type HmacCoverage = 'target' | 'path' | 'date'

const COVERAGES: readonly HmacCoverage[] = ['target', 'path', 'date']

/** A signature of the request with the secret of a key (draft-cavage-http-signatures-12, RFC 9421). */
export const HMAC_SCHEME: Scheme<'hmac', HmacRules> = {
  method: 'hmac',
  type: 'hmac',
  on: 'enable_signature_checking',
  config: 'hmac',
  identity: 'hmac_key',
  rank: 4,
  declaration: undefined,
  classicSchema: {
    hmac_allowed_algorithms: list(text(), 100),
    // Exporters of other products write -1 for "not checked".
    hmac_allowed_clock_skew: number(MAX_SKEW_S * 1000, -1),
    hmac_coverage: oneOf('', ...COVERAGES),
  },
  oasSchema: {
    allowedAlgorithms: list(text(), 100),
    allowedClockSkew: number(MAX_SKEW_S * 1000, -1),
    coverage: oneOf('', ...COVERAGES),
  },
  classicTexts: {
    enable_signature_checking: 'true: signed requests (HMAC).',
  },
  oasTexts: {
    '': 'Signed requests (HMAC): draft-cavage-http-signatures-12, or HTTP Message Signatures (RFC 9421).',
    allowedAlgorithms:
      'Accepted algorithms: `hmac-sha256`, `hmac-sha384`, `hmac-sha512`, `hmac-sha1`. Empty: the first three.',
    allowedClockSkew:
      'Largest difference between the date of the request and the clock, in milliseconds. 0: 5 minutes. -1: not checked.',
    coverage:
      'Parts that a signature must cover besides the date: `target` (method, path and query, default), `path` (without the query) or `date` (nothing else).',
  },
  pairs: [
    pair('hmac_allowed_algorithms', 'allowedAlgorithms'),
    pair('hmac_allowed_clock_skew', 'allowedClockSkew'),
    pair('hmac_coverage', 'coverage'),
  ],
  word: 'signature',
  // Digests that a signature may cover (RFC 9530, RFC 3230).
  extraFields: ['content-digest', 'repr-digest', 'digest'],
  ownFields: ['signature-input', 'signature'],
  identifies: false,
  read: readHmacRules,
  flaws: hmacFlaws,
  warnings: hmacWarnings,
}

function readHmacRules(classic: JsonObject): HmacRules {
  const listed = textsOf(classic, 'hmac_allowed_algorithms').map((name) => name.toLowerCase())
  const skewMs = numberOf(classic, 'hmac_allowed_clock_skew')
  return {
    algorithms: listed.length === 0 ? HMAC_DEFAULTS : listed,
    skewMs: skewMs < 0 ? Number.POSITIVE_INFINITY : skewMs || SIGNATURE_SKEW_MS,
    coverage: (textOf(classic, 'hmac_coverage') || 'target') as HmacCoverage,
  }
}

/** Weaker choices of a definition. */
function hmacWarnings(classic: JsonObject): Flaw[] {
  const { skewMs, coverage } = readHmacRules(classic)
  const listed = textsOf(classic, 'hmac_allowed_algorithms').findIndex((name) => name.toLowerCase() === 'hmac-sha1')
  const warnings: Flaw[] = []
  if (listed !== -1)
    warnings.push({ at: ['hmac_allowed_algorithms', String(listed)], reason: 'accepts SHA-1, which is deprecated' })
  if (skewMs === Number.POSITIVE_INFINITY)
    warnings.push({
      at: ['hmac_allowed_clock_skew'],
      reason: 'accepts requests of any date: one that was recorded can be sent again at any time',
    })
  if (coverage !== 'target')
    warnings.push({
      at: ['hmac_coverage'],
      reason: `accepts signatures that do not cover ${coverage === 'date' ? 'method, path and query' : 'the query'}`,
    })
  return warnings
}

function hmacFlaws(classic: JsonObject): Flaw[] {
  return textsOf(classic, 'hmac_allowed_algorithms').flatMap((name, index) =>
    HMAC_ALGORITHMS.includes(name.toLowerCase())
      ? []
      : [
          {
            at: ['hmac_allowed_algorithms', String(index)],
            reason: `must be one of ${HMAC_ALGORITHMS.join(', ')}`,
          },
        ],
  )
}
