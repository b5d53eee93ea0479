import type { TSchema } from 'typebox'
import { MASK } from '../../model/secrets/redact.ts'
import type { Route } from '../routes/route.ts'

type Declared = Pick<Route, 'path' | 'owned' | 'keysIn' | 'query'>

type Params = Readonly<Record<string, string>>

const SECRET_NAME = /nonce|token|secret|key|password|code|credential/i
const HASH = /^[0-9a-f]{64}$/
/** The form of generated keys: ours (one in 1,500 has no digit), and those of the incumbent. */
const GENERATED = /^(?=.*[A-Z])(?=.*[a-z])(?:[A-Za-z0-9_-]{43}|(?=.*[0-9])[A-Za-z0-9_+/=-]{32,})$|^[0-9a-f]{56}$/

/**
 * Path and query of a call without raw keys and other secrets, as records of it show them. A value is shown where the route declares its
 * place, and does not say that a key may be there; hashes of keys are no secrets. Whatever looks like a generated key is masked anywhere.
 */
export function safeUrl(route: Declared, url: string, params: Params): string {
  const [path, query] = split(url, '?')
  return safePath(route, path, params) + (query === undefined || query === '' ? '' : `?${safeQuery(route, query)}`)
}

/** The same of a path alone; `route` undefined = no route is known. */
export function safePath(route: Declared | undefined, path: string, params: Params): string {
  const secret = Object.keys(params).filter(
    (name) => route !== undefined && mayHoldKey(route, name) && !isHash(params[name]!),
  )
  if (route === undefined || secret.length === 0)
    return path
      .split('/')
      .map((segment) => (isGenerated(decoded(segment)) ? MASK : segment))
      .join('/')
  return route.path.replace(/\{([^{}]*)\}/g, (_all, name: string) => {
    const value = params[name] ?? ''
    return secret.includes(name) || isGenerated(value) ? MASK : encodeURIComponent(value)
  })
}

function safeQuery(route: Declared, query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const [name, value] = split(pair, '=')
      if (!Object.hasOwn(route.query ?? {}, decoded(name))) return isGenerated(decoded(name)) ? MASK : `${name}=${MASK}`
      return value === undefined || value === '' || isOpen(route, decoded(name), decoded(value))
        ? pair
        : `${name}=${MASK}`
    })
    .join('&')
}

/** True for a value of a declared parameter that is no secret. */
function isOpen(route: Declared, name: string, value: string): boolean {
  if (mayHoldKey(route, name)) return isHash(value)
  return !SECRET_NAME.test(name) && fits(route.query![name]!, value) && !isGenerated(value)
}

function mayHoldKey({ owned, keysIn }: Declared, name: string): boolean {
  return (owned?.noun === 'key' && owned.by === name) || keysIn?.includes(name) === true
}

const isHash = (text: string) => text.split(',').every((part) => HASH.test(part))
const isGenerated = (text: string) => text.split(',').some((part) => GENERATED.test(part))

/** Of a number, a switch or a choice, what it can be: the call may have been refused before that was looked at. */
function fits(schema: TSchema, value: string): boolean {
  const { type, enum: choices } = schema as { readonly type?: unknown; readonly enum?: readonly unknown[] }
  if (choices !== undefined) return choices.map(String).includes(value)
  if (type === 'integer' || type === 'number') return /^-?\d{1,15}$/.test(value)
  return type !== 'boolean' || value === 'true' || value === 'false'
}

function split(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
