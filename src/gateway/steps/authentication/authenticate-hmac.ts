import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { HMAC_SCHEME, type HmacCoverage, type HmacRules } from '../../../model/authentication/hmac-scheme.ts'
import { type SchemeRules, settingsOf } from '../../../model/authentication/scheme.ts'
import { writtenPath } from '../../../wire/http1/request-line.ts'
import { policyKey } from '../../apis/snapshot.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import {
  coversRequest,
  type MessageSignature,
  readMessageSignature,
  signatureText,
} from '../../authentication/message-signature.ts'
import type { Exchange, Snapshot, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { readCredential } from './read-credential.ts'

const MISSING = prebuilt('credential_missing')
const REPEATED = prebuilt('credential_repeated')
const WRONG = prebuilt('signature_invalid')
const STALE = prebuilt('signature_invalid', 'the date of the request lies too far from now')
const UNCOVERED = prebuilt('signature_invalid', 'the signature must cover (request-target) and date or x-aux-date')
const UNDATED = prebuilt('signature_invalid', 'the signature must cover date or x-aux-date')
const UNCOVERED_9421 = prebuilt(
  'signature_invalid',
  'the signature must cover @method, and @request-target or @path and @query',
)
const CHALLENGE = 'WWW-Authenticate: Signature realm="api", headers="(request-target) date"\r\n'

const DIGESTS: Readonly<Record<string, string>> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
}
const MOST_FIELDS = 32
const PARAMETER = /([a-zA-Z]{1,32})=(?:"([^"\\]{0,2048})"|(\d{1,15}))(?:, ?|$)/y
const BASE64 = /^[A-Za-z0-9+/]{20,100}={0,2}$/
const DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d\d)$/
/** The secret that is used for an unknown key, so that it takes the same time. */
const NOBODYS = 'no key has this secret'

interface Signature {
  readonly keyId: string
  readonly algorithm: string
  readonly fields: readonly string[]
  readonly value: Buffer
}

/**
 * Identifies the caller by the signature of the request: `keyId` is a key whose session has `hmac_enabled` and a secret in
 * `hmac_string`. Two forms: `Authorization: Signature` (draft-cavage-http-signatures-12), and `Signature-Input` with `Signature`
 * (RFC 9421, `hmac-sha256`). Method, path, query and time must be signed, and the time must be near now, unless the API asks for less.
 * Path and query are signed as they were sent, dot segments resolved.
 */
export function authenticateHmac(scheme: SchemeRules, { orgId }: Api, { sessions }: AuthParts): Step {
  const rules = settingsOf(HMAC_SCHEME, scheme)
  const { algorithms, skewMs } = rules

  const check = (x: Exchange, session: LiveSession | undefined, claim: Claim): StepOutcome => {
    const secret = secretOf(session, orgId, x.snapshot!)
    let equal = false
    for (const text of claim.texts) {
      const made = createHmac(claim.digest, secret === '' ? NOBODYS : secret)
        // Texts of a request hold a byte a character.
        .update(text, 'latin1')
        .digest()
      if (made.length === claim.value.length && timingSafeEqual(made, claim.value)) equal = true
    }
    if (!equal || session === undefined || secret === '') return asked(x, WRONG)
    if (session.unusable || session.token !== undefined || !session.belongsTo(orgId)) return asked(x, WRONG)
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return asked(x, WRONG)
    // NaN, for no date, is near to nothing.
    if (!(Math.abs(x.wall - claim.atMs) <= skewMs) || claim.endsAtMs <= x.wall) return asked(x, STALE)
    x.session = session
    return undefined
  }

  return function authenticateHmac(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(scheme, x)
    if (sent === undefined) return REPEATED
    const claim = sent === '' ? claimOf9421(x, algorithms) : claimOf(x, sent, rules)
    if (!('keyId' in claim)) return asked(x, claim)
    const session = sessions.find(claim.keyId, x.snapshot!, x.wall)
    return session instanceof Promise ? session.then((late) => check(x, late, claim)) : check(x, session, claim)
  }
}

/** The signature of a request, in either format. */
interface Claim {
  readonly keyId: string
  readonly digest: string
  /** The texts that may have been signed; none when the request lacks a part of it. */
  readonly texts: readonly string[]
  readonly value: Buffer
  /** Unix milliseconds. */
  readonly atMs: number
  readonly endsAtMs: number
}

function claimOf(x: Exchange, sent: string, { algorithms, coverage }: HmacRules): Claim | Fault {
  const signature = readSignature(sent)
  if (signature === undefined || !algorithms.includes(signature.algorithm)) return WRONG
  const { algorithm, fields, keyId, value } = signature
  if (!fields.includes('date') && !fields.includes('x-aux-date')) return UNDATED
  if (coverage !== 'date' && !fields.includes(TARGET)) return UNCOVERED
  const texts = targetsOf(x, fields, coverage).flatMap((target) => signedText(x, fields, target) ?? [])
  return {
    ...{ keyId, texts, value, digest: DIGESTS[algorithm]!, atMs: dateOf(x, fields) },
    endsAtMs: Number.POSITIVE_INFINITY,
  }
}

/** Fields that come several times would be lists, of several signatures: one is enough to say who calls. */
function claimOf9421(x: Exchange, algorithms: readonly string[]): Claim | Fault {
  const [inputs, values] = [x.request.all('signature-input'), x.request.all('signature')]
  if (inputs.length === 0) return MISSING
  const read = inputs.length === 1 && values.length === 1 ? readMessageSignature(inputs[0]!, values[0]!) : undefined
  if (read === undefined || !algorithms.includes('hmac-sha256')) return WRONG
  if (!coversRequest(read)) return UNCOVERED_9421
  const endsAtMs = read.expires === undefined ? Number.POSITIVE_INFINITY : read.expires * 1000
  const base = baseOf(x, read)
  return {
    ...{ keyId: read.keyId, texts: base === undefined ? [] : [base], value: read.value },
    ...{ digest: 'sha256', atMs: read.created * 1000, endsAtMs },
  }
}

function baseOf(x: Exchange, signature: MessageSignature): string | undefined {
  const scheme = x.secure ? 'https' : 'http'
  return signatureText(signature, {
    scheme,
    method: x.method,
    authority: x.authority.toLowerCase().replace(x.secure ? /:443$/ : /:80$/, ''),
    path: writtenPath(x),
    query: x.hasQuery ? `?${x.sentQuery}` : '',
    field: (name) => x.request.all(name),
  })
}

function asked(x: Exchange, refusal: Fault): Fault {
  x.answerExtra += CHALLENGE
  return refusal
}

/** The secret that requests of a session are signed with; '' when neither it nor a policy of it allows that. */
function secretOf(session: LiveSession | undefined, orgId: string, { policies }: Snapshot): string {
  if (session === undefined) return ''
  const { body } = session.source
  const maySign = signs(body) || session.policyIds.some((id) => signs(policies.get(policyKey(orgId, id))))
  return maySign && typeof body.hmac_string === 'string' ? body.hmac_string : ''
}

/** The flags of a session or a policy. */
interface MaySign {
  readonly hmac_enabled?: unknown
  readonly enable_http_signature_validation?: unknown
}

function signs(holder: MaySign | undefined): boolean {
  return holder?.hmac_enabled === true || holder?.enable_http_signature_validation === true
}

/** The parameters of `Signature keyId="...",algorithm="...",headers="...",signature="..."`, each once; undefined when malformed. */
function readSignature(sent: string): Signature | undefined {
  if (!/^signature /i.test(sent)) return undefined
  const given = new Map<string, string>()
  PARAMETER.lastIndex = sent.indexOf(' ') + 1
  while (PARAMETER.lastIndex < sent.length) {
    const match = PARAMETER.exec(sent)
    if (match === null) return undefined
    const name = match[1]!.toLowerCase()
    if (given.has(name)) return undefined
    given.set(name, match[2] ?? match[3]!)
  }
  const keyId = given.get('keyid') ?? ''
  const algorithm = (given.get('algorithm') ?? '').toLowerCase()
  const fields = (given.get('headers') ?? 'date').toLowerCase().split(' ')
  const value = signatureBytes(given.get('signature') ?? '')
  if (keyId === '' || value === undefined || !Object.hasOwn(DIGESTS, algorithm)) return undefined
  return fields.length > MOST_FIELDS ? undefined : { keyId, algorithm, fields, value }
}

/** Base64, which some clients percent-encode. */
function signatureBytes(text: string): Buffer | undefined {
  const plain = text.replace(/%(2B|2F|3D)/gi, (octet) => decodeURIComponent(octet))
  if (!BASE64.test(plain)) return undefined
  const bytes = Buffer.from(plain, 'base64')
  return bytes.toString('base64') === plain ? bytes : undefined
}

const TARGET = '(request-target)'
/** Escapes that are read decoded: not line ends and other controls, with which a path could speak for signed fields, and no `?`. */
const DECODED = /%(?!3f|7f)([2-9a-f][0-9a-f])/gi

/** The targets that may have been signed: where the API allows it, also without the query, and as the path reads decoded. */
function targetsOf(x: Exchange, fields: readonly string[], coverage: HmacCoverage): readonly string[] {
  const path = writtenPath(x)
  const whole = `${path}${x.hasQuery ? `?${x.sentQuery}` : ''}`
  if (coverage === 'target' || !fields.includes(TARGET)) return [whole]
  const decoded = path.replace(DECODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return [...new Set([whole, path, decoded])]
}

/** The text that was signed (section 2.3 of the draft); undefined when a field that it names is not there. */
function signedText(x: Exchange, fields: readonly string[], target: string): string | undefined {
  const lines: string[] = []
  for (const name of fields) {
    if (name === TARGET) {
      lines.push(`${name}: ${x.method.toLowerCase()} ${target}`)
      continue
    }
    const values = x.request.all(name)
    if (values.length === 0) return undefined
    lines.push(`${name}: ${values.join(', ')}`)
  }
  return lines.join('\n')
}

/** The signed date in Unix milliseconds; `x-aux-date` is for browsers, which may not set `date`. NaN when there is none. */
function dateOf(x: Exchange, fields: readonly string[]): number {
  const text = x.request.get(fields.includes('x-aux-date') ? 'x-aux-date' : 'date') ?? ''
  return DATE.test(text) ? Date.parse(text) : Number.NaN
}
