import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import type { SchemeWord } from '../../oauth/challenge.ts'
import type { Exchange } from '../../server/exchange.ts'
import { behindSpaces, headerValue, readBare, withoutBearer } from './read-credential.ts'

/** An access token as a request carries it. */
export interface PresentedToken {
  readonly text: string
  readonly word: SchemeWord
}

/** Why there is no token: nothing that could be one, one under a scheme that is not ours, or more than one. */
export type NoToken = 'missing' | 'malformed' | 'repeated'

/**
 * The access token of a request, in the header, the query parameter or the cookie of the scheme, and in one of them only (RFC 6750
 * section 2). In `Authorization` it follows `Bearer` or `DPoP`; anywhere else the word may be left out.
 */
export function readToken(auth: SchemeRules, x: Exchange): PresentedToken | NoToken {
  const inHeader = headerValue(auth, x)
  if (inHeader === undefined) return 'repeated'
  const wordless = auth.header !== 'authorization'
  if (auth.query === undefined && auth.cookie === undefined) return parse(inHeader, wordless)
  const bare = readBare(auth, x)
  // Any value of the header may be what the upstream takes, also what is no token to us.
  if (bare === undefined || (bare !== '' && inHeader !== '')) return 'repeated'
  return bare === '' ? parse(inHeader, wordless) : parse(bare, true)
}

function parse(value: string, wordless: boolean): PresentedToken | NoToken {
  const space = value.indexOf(' ')
  if (space === -1) return wordless && value !== '' ? { text: value, word: '' } : 'missing'
  const text = value.slice(space + 1).trimStart()
  const word = wordOf(value, space)
  if (word === '') return text === '' ? 'missing' : 'malformed'
  return text === '' ? 'missing' : { text, word }
}

/** The scheme that ends at this space, in any letter case; '' when it is not one of ours. */
function wordOf(value: string, space: number): SchemeWord {
  if (space !== 6 && space !== 4) return ''
  const word = value.slice(0, space).toLowerCase()
  return word === 'bearer' || word === 'dpop' ? word : ''
}

/** The scheme before a credential; '' when it is not one of ours. */
export function schemeOf(sent: string): SchemeWord {
  if (sent.charCodeAt(4) === SPACE) return wordOf(sent, 4)
  return sent.charCodeAt(6) === SPACE ? wordOf(sent, 6) : ''
}

/** True for a credential of a scheme that is not ours: a bare token has no blank in it (RFC 6750 section 2.1). */
export function isOfOtherScheme({ header }: SchemeRules, sent: string): boolean {
  return header === 'authorization' && sent.includes(' ') && schemeOf(sent) === ''
}

/** The token after an optional `Bearer` or `DPoP` in any letter case. */
export function credentialOf(sent: string): string {
  return sent.charCodeAt(4) === SPACE && wordOf(sent, 4) === 'dpop' ? behindSpaces(sent, 5) : withoutBearer(sent)
}

const SPACE = 32
