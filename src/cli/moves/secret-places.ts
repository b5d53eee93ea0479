import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { isSecretName } from '../../model/redact.ts'
import type { Path } from './paths.ts'

/** Names that speak of secrets and hold none, besides those that are told apart everywhere. */
const HARMLESS = /algorithm|polic(?:y|ies)|scope|claim|method|redirect|cache|fields?$|^keys?$|^code$|header/i
const FIELD = /authori[sz]ation|cookie|secret|token|pass|api[_-]?key|credential/i
const USER_INFO = /\/\/[^/?#@\s"]*:[^/?#@\s"]*@/

/** Where a document holds secrets, by the names of its members: texts that are not empty. */
export function secretPlaces(value: Json, path: Path = [], name = ''): Path[] {
  if (typeof value === 'string') return isSecret(value, name) ? [path] : []
  if (Array.isArray(value)) return value.flatMap((item, index) => secretPlaces(item, [...path, index], name))
  if (!isObject(value)) return []
  // Fields are written as {name, value} too, and then the name stands in a value.
  const field = typeof value.name === 'string' && FIELD.test(value.name)
  return Object.entries(value).flatMap(([member, item]) => {
    if (field && member === 'value' && typeof item === 'string' && item !== '') return [[...path, member]]
    if (isSharedKey(member, value) && item !== '') return [[...path, member]]
    return secretPlaces(item, [...path, member], member)
  })
}

/** The key that JSON Web Tokens are checked with is a secret where both sides hold the same; else it is a public key, or an address. */
function isSharedKey(name: string, holder: JsonObject): boolean {
  const method =
    name === 'jwt_source' ? holder.jwt_signing_method : name === 'source' ? holder.signingMethod : undefined
  return typeof method === 'string' && method.toLowerCase() === 'hmac'
}

function isSecret(text: string, name: string): boolean {
  if (text === '') return false
  if (isSecretName(name) && !HARMLESS.test(name)) return true
  return (text.includes('//') && USER_INFO.test(text)) || text.includes('PRIVATE KEY-----')
}
