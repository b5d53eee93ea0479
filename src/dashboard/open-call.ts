import { fault } from '../errors/fault.ts'
import { isObject, type Json } from '../model/json.ts'
import { readJson } from '../model/json-body.ts'
import { searchParams } from '../model/search-params.ts'
import type { Actor } from './actor.ts'
import type { Upload } from './body.ts'
import type { Call } from './call.ts'
import type { Sight } from './sight.ts'

/** A request as the server has it. */
export interface Sent {
  readonly actor: Actor | undefined
  readonly sight: Sight
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

const NOTHING = new Uint8Array()

/** Makes the call that a route's `run` gets. */
export function openCall(sent: Sent): Call {
  let parsed: Json | undefined
  const json = () => {
    parsed ??= readJson(sent.body)
    return parsed
  }
  const { actor, sight, method, url, clientAddress, peerAddress, requestId, pageSize } = sent
  return {
    ...{ actor, sight, method, url, clientAddress, peerAddress, requestId, pageSize },
    param: (name) => (Object.hasOwn(sent.params, name) ? sent.params[name]! : ''),
    query: (name) => sent.query.get(name) ?? '',
    queryAll: (name) => sent.query.getAll(name),
    json,
    object() {
      const value = json()
      if (!isObject(value)) throw fault('body_malformed', 'the body is not a JSON object')
      return value
    },
    bytes: () => (sent.upload === undefined ? sent.body : (sent.upload.file ?? NOTHING)),
    form: () => sent.upload?.fields ?? searchParams(new TextDecoder().decode(sent.body)),
    header(lowerName) {
      const value = Object.hasOwn(sent.headers, lowerName) ? sent.headers[lowerName] : undefined
      return Array.isArray(value) ? value.join(', ') : value
    },
  }
}
