import { pair } from '../apis/convert/convert-pairs.ts'
import { flagOf, numberOf, objectOf } from '../apis/definition/members.ts'
import { bool, object, whole } from '../apis/schema/schema.ts'
import type { JsonObject } from '../json/json.ts'
import { httpScheme, type Scheme } from './scheme.ts'

/** Longest time in which what was checked is not checked again, in seconds. */
const MAX_CACHE_S = 86_400
const PASSWORD_S = 60

/** The rules of basic authentication in a definition. */
export interface BasicRules {
  /** How long a password that was right is not hashed again; 0 = it is hashed each time. */
  readonly cacheMs: number
}

/** A name and a password (RFC 7617). */
export const BASIC_SCHEME: Scheme<'basic', BasicRules> = {
  method: 'basic',
  type: 'basic',
  on: 'use_basic_auth',
  config: 'basic',
  identity: 'basic_auth_user',
  rank: 3,
  declaration: httpScheme('basic'),
  classicSchema: {
    basic_auth: object({ disable_caching: bool(), cache_ttl: whole(MAX_CACHE_S), extract_from_body: bool() }),
  },
  oasSchema: {
    disableCaching: bool(),
    cacheTTL: whole(MAX_CACHE_S),
    extractCredentialsFromBody: object({ enabled: bool() }),
  },
  classicTexts: {
    use_basic_auth: 'true: name and password (basic authentication).',
    basic_auth: 'Settings of basic authentication.',
    'basic_auth.extract_from_body': 'Name and password from the body. Refused where it is asked for.',
  },
  oasTexts: {
    disableCaching: 'Scheme `http` `basic`. true: a verified password is verified again with every request.',
    cacheTTL: 'Scheme `http` `basic`. Seconds for which a verified password is remembered. 0: 60.',
    extractCredentialsFromBody: 'Name and password from the body. Refused where it is asked for.',
  },
  pairs: [
    pair('basic_auth.disable_caching', 'disableCaching'),
    pair('basic_auth.cache_ttl', 'cacheTTL'),
    pair('basic_auth.extract_from_body', 'extractCredentialsFromBody.enabled'),
  ],
  word: 'basic',
  extraFields: [],
  identifies: true,
  read: readBasicRules,
}

function readBasicRules(classic: JsonObject): BasicRules {
  const section = objectOf(classic, 'basic_auth')
  if (flagOf(section, 'disable_caching')) return { cacheMs: 0 }
  return { cacheMs: 1000 * (numberOf(section, 'cache_ttl') || PASSWORD_S) }
}
