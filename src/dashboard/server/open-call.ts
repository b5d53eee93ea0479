import { fault } from '../../errors/fault.ts'
import { isObject, type Json } from '../../model/json/json.ts'
import { readJson } from '../../model/json/json-body.ts'
import { searchParams } from '../../model/network/media-type.ts'
import type { Actor } from '../access/actor.ts'
import type { Visibility } from '../access/visibility.ts'
import type { Call } from '../routes/call.ts'
import type { Upload } from './body.ts'

/** A request as the server has it. */
export interface Sent {
  readonly actor: Actor | undefined
  readonly installation: boolean
  readonly visibility: Visibility
  readonly method: string
  readonly url: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  /** Where the route takes files. */
  readonly upload: Upload | undefined
  readonly clientAddress: string
  readonly peerAddress: string
  readonly requestId: string
  readonly pageSize: number
}

/**
 * Refuses a call that gives one parameter in two places: which of them was meant is anybody's guess.
 * @throws Fault `query_invalid` (400) naming it
 */
export function checkOnePlace(query: Pick<URLSearchParams, 'has'>, names: Iterable<string>): void {
  for (const name of names)
    if (query.has(name)) throw fault('query_invalid', `${name} is given in the query and in the body`)
}

const NOTHING = new Uint8Array()

/** Makes the call that a route's `run` gets. */
export function openCall(sent: Sent): Call {
  let parsed: Json | undefined
  const json = () => {
    parsed ??= readJson(sent.body)
    return parsed
  }
  const { actor, installation, visibility, method, url, clientAddress, peerAddress, requestId, pageSize } = sent
  return {
    ...{ actor, installation, visibility, method, url, clientAddress, peerAddress, requestId, pageSize },
    param: (name) => (Object.hasOwn(sent.params, name) ? sent.params[name]! : ''),
    query(name) {
      const [value = '', ...more] = sent.query.getAll(name)
      if (more.length > 0) throw fault('query_invalid', `${name} is given more than once`)
      return value
    },
    queryAll: (name) => sent.query.getAll(name),
    json,
    object() {
      const value = json()
      if (!isObject(value)) throw fault('body_malformed', 'the body is not a JSON object')
      checkOnePlace(sent.query, Object.keys(value))
      return value
    },
    bytes: () => (sent.upload === undefined ? sent.body : (sent.upload.file ?? NOTHING)),
    form() {
      const fields = sent.upload?.fields ?? searchParams(new TextDecoder().decode(sent.body))
      const names = [...fields.keys()]
      if (new Set(names).size < names.length) throw fault('body_malformed', 'a field is repeated')
      checkOnePlace(sent.query, names)
      return fields
    },
    header(lowerName) {
      const value = Object.hasOwn(sent.headers, lowerName) ? sent.headers[lowerName] : undefined
      return Array.isArray(value) ? value.join(', ') : value
    },
  }
}
