import type { SchemeRules } from '../../model/scheme-rules.ts'
import { FIELD } from '../../wire/fields.ts'
import type { Exchange } from '../exchange.ts'
import type { SchemeWord } from '../oauth/challenge.ts'
import { cookieValue, queryValue, withoutBearer } from './read-credential.ts'

/** An access token as a request carries it. */
export interface PresentedToken {
  readonly text: string
  readonly word: SchemeWord
}

/** Why there is no token: nothing that could be one, or one under a scheme that is not ours. */
export type NoToken = 'missing' | 'malformed'

/**
 * The access token of a request: a cookie beats a query parameter, which beats a header. In `Authorization` it stands behind
 * `Bearer` or `DPoP`; anywhere else the word may be left out.
 */
export function readToken(auth: SchemeRules, x: Exchange): PresentedToken | NoToken {
  const bare = bareValue(auth, x)
  if (bare !== '') return parse(bare, true)
  if (auth.header === undefined) return 'missing'
  if (auth.header !== 'authorization') return parse(x.request.get(auth.header) ?? '', true)
  return parse(x.request.known(FIELD.authorization) ?? '', false)
}

function bareValue(auth: SchemeRules, x: Exchange): string {
  const inCookie = auth.cookie === undefined ? '' : cookieValue(x.request.known(FIELD.cookie), auth.cookie)
  if (inCookie !== '' || auth.query === undefined || !x.hasQuery) return inCookie
  return queryValue(x.query, auth.query)
}

function parse(value: string, wordless: boolean): PresentedToken | NoToken {
  const space = value.indexOf(' ')
  if (space === -1) return wordless && value !== '' ? { text: value, word: '' } : 'missing'
  const text = value.slice(space + 1).trimStart()
  const word = wordOf(value, space)
  if (word === '') return text === '' ? 'missing' : 'malformed'
  return text === '' ? 'missing' : { text, word }
}

/** The scheme word that ends at this space, whatever its letter case; '' when it is none of ours. */
export function wordOf(value: string, space: number): SchemeWord {
  if (space !== 6 && space !== 4) return ''
  const word = value.slice(0, space).toLowerCase()
  return word === 'bearer' || word === 'dpop' ? word : ''
}

/** The scheme word before a credential; '' when there is none of ours. */
export function schemeOf(sent: string): SchemeWord {
  if (sent.charCodeAt(4) === SPACE) return wordOf(sent, 4)
  return sent.charCodeAt(6) === SPACE ? wordOf(sent, 6) : ''
}

/** What stands behind an optional `Bearer ` or `DPoP ` of any letter case. */
export function credentialOf(sent: string): string {
  return sent.charCodeAt(4) === SPACE && wordOf(sent, 4) === 'dpop' ? sent.slice(5) : withoutBearer(sent)
}

const SPACE = 32
