import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** The mask of a secret. */
export const MASK = '***'

/** Names of members and fields whose text is a secret, as a caller writes them or as the store keeps them. */
const SECRET =
  /pass(?:word|wd|phrase)|secret|token|sealed|hmac|credential|authori[sz]ation|cookie|(?:access|api|private|raw|sso|signing|encryption)[_-]?key|admin[-_]?auth|x-csrf|_hash$|history$|recovery|nonce|^code$|^key_id$|^keys?$|assertion|redirect_to|^otp|totp/i
/** Of those, names that only speak of secrets. */
const HARMLESS =
  /^(?:password_updated|password_max_days|key_hash|token_type|token_type_hint|access_?token_?format|tokens?_?ttl|api_key_id)$|(?:name|url|uri|endpoint|source|header|path|format|type|enabled|redirect|location|expires?|days|kind)$/i
/** Of those in turn, what holds a secret all the same. */
const HOLDS_ONE = /redirect_to$/i
const USER_INFO = /(\/\/)[^/?#@\s"]+@/g
/** A query parameter of a URL, with its literal value: `$1` and `{{name}}` are no literals. */
const PARAMETER = /([?&;])([^=?&;#\s"]{1,128})=(?![${])([^&;#\s"]+)/g
/** Names of parameters whose value is a secret, besides those of members. */
const SECRET_PARAMETER = /(?:^|[._-])(?:key|auth|sig|signature|pwd)$|api[._-]?key|access[._-]?key/i
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g
/** The form of a random credential; ids of 24 hex digits are none. */
const RANDOM = /^(?![0-9a-f]{24}$)[A-Za-z0-9_\-+/=.]{24,}$/

/** Members that hold permissions by name. */
const PERMISSIONS = /^(?:user_permissions|permissions|ceiling|guarantor)$/
const LEVEL = /^(?:read|write|deny|admin|all|owned|true|false|)$/

/** True for a name whose text is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) && (!HARMLESS.test(name) || HOLDS_ONE.test(name))
}

/** A copy without secrets: their texts read `***`; everything else, and the shape, stays. */
export function redact(value: Json, name = ''): Json {
  if (typeof value === 'string') return isSecretName(name) && value !== '' ? MASK : redactText(value)
  if (Array.isArray(value)) return value.map((item) => redact(item, name))
  if (!isObject(value)) return value
  return PERMISSIONS.test(name) ? redactPermissions(value) : redactObject(value)
}

/** A permission may have any name: `keys`, `token_admin`. Its level is no secret. */
function redactPermissions(value: JsonObject): JsonObject {
  const shown = (level: Json, name: string) =>
    typeof level === 'string' && LEVEL.test(level) ? level : redact(level, name)
  return Object.fromEntries(Object.entries(value).map(([name, level]) => [name, shown(level, name)]))
}

/** The same for a response, where a secret may have any name: values that look like random credentials are masked too. */
export function redactAnswer(value: Json): Json {
  return withoutRandom(redact(value))
}

/** A text without private keys, and without users, passwords and credentials in the queries of URLs. */
export function redactText(text: string): string {
  const open = text.includes('//') ? text.replace(USER_INFO, `$1${MASK}@`) : text
  const plain = open.includes('?') ? redactQuery(open) : open
  return plain.includes('PRIVATE KEY') ? plain.replace(PRIVATE_KEY, MASK) : plain
}

/** True for a text with a credential, or with the mask of one, in the query of an address. */
export function hasSecretQuery(text: string): boolean {
  return text.includes('?') && [...text.matchAll(PARAMETER)].some(([, , name]) => isSecretParameter(name!))
}

function redactQuery(text: string): string {
  return text.replace(PARAMETER, (all, before: string, name: string) =>
    isSecretParameter(name) ? `${before}${name}=${MASK}` : all,
  )
}

function isSecretParameter(written: string): boolean {
  const name = decoded(written)
  return (isSecretName(name) && name !== 'code') || SECRET_PARAMETER.test(name) || /[a-z]Key$/.test(name)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function redactObject(value: JsonObject): JsonObject {
  // Fields are written as {name, value} too: then the name is in a value.
  const field = typeof value.name === 'string' && isSecretField(value.name)
  const entries = Object.entries(value).map(([key, item]): [string, Json] => {
    if (field && key.toLowerCase() === 'value' && typeof item === 'string') return [key, MASK]
    if (isKeySource(key, value) && typeof item === 'string' && item !== '' && !/^https?:/i.test(item))
      return [key, MASK]
    return [key, redact(item, key)]
  })
  return Object.fromEntries(entries)
}

/** Where definitions write the key of JSON Web Tokens: it may be a shared secret. */
function isKeySource(name: string, holder: JsonObject): boolean {
  return name === 'jwt_source' || (name === 'source' && holder.signingMethod !== undefined)
}

function isSecretField(name: string): boolean {
  return /authori[sz]ation|cookie|secret|token|pass|api[_-]?key|credential/i.test(name)
}

function withoutRandom(value: Json): Json {
  if (typeof value === 'string') return RANDOM.test(value) ? MASK : value
  if (Array.isArray(value)) return value.map(withoutRandom)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutRandom(item)]))
}
