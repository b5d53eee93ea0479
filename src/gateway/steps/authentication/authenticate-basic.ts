import { createHmac, randomBytes } from 'node:crypto'
import { Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { BASIC_SCHEME } from '../../../model/authentication/basic-scheme.ts'
import { type SchemeRules, settingsOf } from '../../../model/authentication/scheme.ts'
import { passwordHashOf } from '../../../model/keys/key.ts'
import { trimTrailing } from '../../../model/text/trim-trailing.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { RecentCache } from '../../authentication/recent-cache.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { readCredential } from './read-credential.ts'

const MISSING = prebuilt('credential_missing')
const REPEATED = prebuilt('credential_repeated')
const MALFORMED = prebuilt('basic_malformed')
const WRONG = prebuilt('user_unknown')
const CHALLENGE = 'WWW-Authenticate: Basic realm="api", charset="UTF-8"\r\n'

const CREDENTIAL = /^basic +([A-Za-z0-9+/]{1,4096}={0,2})$/i
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Half of the passwords, as HMACs, that an API remembers. */
const REMEMBERED = 2_048
/** Of this process alone: a remembered password digest is of no use in another process. */
const REMEMBERING = randomBytes(32)

interface Credentials {
  readonly name: string
  readonly password: string
}

/** A password that was right: of which stored hash, and until when it is not hashed again (monotonic milliseconds). */
interface Proved {
  readonly stored: string
  readonly until: number
}

/**
 * Identifies the caller by name and password (RFC 7617): a user, made by `POST /svc/keys/{username}`. Passwords are hashed off this
 * thread, few at a time; one that was right is remembered for a while, as long as the stored one stays the same.
 */
export function authenticateBasic(scheme: SchemeRules, { orgId }: Api, { sessions, users }: AuthParts): Step {
  const { cacheMs } = settingsOf(BASIC_SCHEME, scheme)
  const proved = new RecentCache<Proved>(REMEMBERED)

  const accept = (x: Exchange, session: LiveSession | undefined): StepOutcome => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return asked(x, WRONG)
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return asked(x, WRONG)
    x.session = session
    return undefined
  }

  const check = async (x: Exchange, keyHash: string, place: string, given: Credentials): Promise<StepOutcome> => {
    const row = await users.check(orgId, given.name, given.password, x.clientAddress)
    if (row instanceof Fault) return row
    if (row === undefined) return asked(x, WRONG)
    const session = await sessions.findByHash(keyHash, x.snapshot!)
    const stored = storedPassword(session)
    if (cacheMs > 0 && stored !== '') proved.keep(place, { stored, until: x.mono + cacheMs })
    return accept(x, session)
  }

  const compare = (x: Exchange, session: LiveSession | undefined, keyHash: string, given: Credentials) => {
    const place = createHmac('sha256', REMEMBERING).update(`${keyHash} ${given.password}`).digest('base64')
    const known = proved.get(place)
    const isProved = known !== undefined && known.until > x.mono && known.stored === storedPassword(session)
    return isProved ? accept(x, session) : check(x, keyHash, place, given)
  }

  return function authenticateBasic(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(scheme, x)
    if (sent === undefined) return REPEATED
    if (sent === '') return asked(x, MISSING)
    const given = readBasic(sent)
    if (given === undefined) return asked(x, MALFORMED)
    const keyHash = users.hashOf(orgId, given.name)
    const session = sessions.findByHash(keyHash, x.snapshot!)
    return session instanceof Promise
      ? session.then((late) => compare(x, late, keyHash, given))
      : compare(x, session, keyHash, given)
  }
}

function asked(x: Exchange, refusal: Fault): Fault {
  x.answerExtra += CHALLENGE
  return refusal
}

/** Name and password of a Basic credential in UTF-8; undefined when it is malformed (RFC 7617 section 2). */
function readBasic(sent: string): Credentials | undefined {
  const encoded = CREDENTIAL.exec(sent)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (trimTrailing(bytes.toString('base64'), '=') !== trimTrailing(encoded, '=')) return undefined
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    return undefined
  }
  const colon = text.indexOf(':')
  if (colon < 1 || /[\x00-\x1f\x7f]/.test(text)) return undefined
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The hash of the password that the session holds now; '' when it has none. */
function storedPassword(session: LiveSession | undefined): string {
  return session === undefined ? '' : passwordHashOf(session.source.body)
}
