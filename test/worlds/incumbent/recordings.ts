import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Script } from './upstreams.ts'

/** The word of the recordings for our `svc`, to be named in `compat.vendor_aliases`. */
export const ALIAS = 'inc'

/** The incumbent's answer to a request, and the requests that its upstreams received. */
export interface Outcome {
  readonly status: number
  /** `UPSTREAM` where it is the answer of the upstream. */
  readonly body: string
  readonly received: readonly {
    upstream: string
    method: string
    url: string
    fields: readonly string[]
    body: string
  }[]
}

/** One recorded request. */
export interface Recording {
  readonly format: 'classic' | 'openapi'
  readonly topic: string
  /** Id of the API whose definition is meant. */
  readonly api: string
  readonly name: string
  /** Sent one after another, each on a connection of its own; the last one's outcome is recorded. */
  readonly requests: readonly string[]
  /** The accepted outcomes: as recorded at its defaults and, where it differs, with prefix and suffix matching on. */
  readonly there: readonly Outcome[]
  /** True = the body of the answer itself is the point. */
  readonly compareBody: boolean
}

/** Definitions and what else is made before the requests, from an empty gateway, in this order. */
export interface SetUp {
  readonly definitions: readonly { readonly id: string; readonly document: JsonObject }[]
  readonly policies: readonly JsonObject[]
  readonly keys: readonly { readonly n: number; readonly session: JsonObject }[]
  readonly calls: readonly { readonly method: string; readonly path: string; readonly body: JsonObject }[]
  readonly recordings: readonly Recording[]
  /** Reads from a request how its upstream answers it. */
  readonly scriptOf: (message: IncomingMessage) => Script
}

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))

interface ClassicOutcome {
  readonly status: number
  readonly body: string
  readonly up: readonly { port: string; method: string; url: string; headers: readonly string[]; body: string }[]
}

interface ClassicTopic {
  readonly topic: string
  readonly setups: readonly {
    readonly defs: readonly JsonObject[]
    readonly policies: readonly JsonObject[]
    readonly keys: readonly { readonly n: number; readonly session: JsonObject }[]
    readonly calls: readonly { readonly method: string; readonly path: string; readonly body: JsonObject }[]
  }[]
  readonly cases: readonly {
    readonly setup: number
    readonly api: string
    readonly name: string
    readonly requests: readonly string[]
    readonly peer: ClassicOutcome
    readonly peerStrict?: ClassicOutcome
  }[]
}

/** Requests that the upstreams of this replay, which are Node's, refuse: methods that nobody registered, and bytes beyond ASCII in a query. */
const NOT_FOR_NODE = /^FOO |^\S+ [^ ]*\?[^ ]*[^\0-\x7f]/

/** The id of a definition in either format. */
function idOf(document: JsonObject): string {
  if (!('openapi' in document)) return String(document.api_id)
  const { info } = document[`x-${ALIAS}-api-gateway`] as { info: { id: string } }
  return info.id
}

/** The recordings that have keys and policies, a gateway each: at classic definitions, and a set of both formats. */
export function classicSetUps(): SetUp[] {
  const topics = ['./classic.json', './siblings.json', './stranger.json'].flatMap(
    (name) => read(name) as ClassicTopic[],
  )
  return topics.flatMap(({ topic, setups, cases }) =>
    setups.map(({ defs, policies, keys, calls }, at) => ({
      definitions: defs.map((document) => ({ id: idOf(document), document })),
      policies,
      keys,
      calls,
      scriptOf: scriptOfField,
      recordings: cases
        .filter(({ setup, requests }) => setup === at && !NOT_FOR_NODE.test(requests.at(-1)!))
        .map(({ api, name, requests, peer, peerStrict }) => ({
          format: 'classic' as const,
          topic,
          api,
          name,
          requests,
          compareBody: false,
          there: (peerStrict === undefined ? [peer] : [peer, peerStrict]).map(({ status, body, up }) => ({
            status,
            body,
            received: up.map(({ port, headers, ...rest }) => ({ ...rest, upstream: port, fields: headers })),
          })),
        })),
    })),
  )
}

interface OpenapiRow {
  readonly api: string
  readonly topic: string
  readonly documents: readonly JsonObject[]
  readonly cases: readonly {
    readonly request: string
    readonly compareBody?: boolean
    readonly peer: {
      readonly status: number
      readonly body?: string
      readonly up?: { up: string; method: string; url: string; heads: string; body: string }
    }
  }[]
}

/** The recordings at OpenAPI definitions, all at one gateway. */
export function openapiSetUp(): SetUp {
  const rows = read('./openapi.json') as OpenapiRow[]
  return {
    definitions: rows.flatMap(({ api, documents }) => documents.map((document) => ({ id: api, document }))),
    policies: [],
    keys: [],
    calls: [],
    scriptOf: scriptOfQuery,
    recordings: rows.flatMap(({ api, topic, cases }) =>
      cases.map(({ request, compareBody = false, peer: { status, body = 'UPSTREAM', up } }) => ({
        format: 'openapi' as const,
        topic,
        api,
        name: request.slice(0, request.indexOf(' HTTP/')),
        // Written down as text in UTF-8; requests are bytes, a character each.
        requests: [Buffer.from(request).toString('latin1')],
        compareBody,
        there: [
          {
            status,
            body,
            received:
              up === undefined
                ? []
                : [{ ...up, upstream: up.up, fields: up.heads.split(' | ').filter((field) => field !== '') }],
          },
        ],
      })),
    ),
  }
}

/** `X-Up: status=503;body=...;ct=...;h=A: b|C: d;delay=100`, values percent-encoded. */
export function scriptOfField({ headers }: IncomingMessage): Script {
  const field = headers['x-up']
  const parts = new Map(
    (typeof field === 'string' ? field.split(';') : []).map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name, decodeURIComponent(value.join('='))] as const
    }),
  )
  return {
    status: Number(parts.get('status') ?? 200),
    delayMs: Number(parts.get('delay') ?? 0),
    fields: [
      ...(parts.has('ct') ? [['content-type', parts.get('ct')!] as const] : []),
      ...(parts.get('h')?.split('|') ?? []).map((each) => {
        const colon = each.indexOf(':')
        return [each.slice(0, colon).trim(), each.slice(colon + 1).trim()] as const
      }),
    ],
    body: parts.get('body'),
    reset: parts.has('reset'),
  }
}

/** `?delay=`, `st=` status, `uph=K=V` field, `ub=` body, `uct=` its type. */
function scriptOfQuery({ url = '' }: IncomingMessage): Script {
  const query = new URLSearchParams(url.replace(/^[^?]*\??/, ''))
  return {
    status: Number(query.get('st') ?? 200),
    delayMs: Number(query.get('delay') ?? 0),
    fields: [
      ['x-up', 'yes'],
      ...(query.has('uct') ? [['content-type', query.get('uct')!] as const] : []),
      ...query.getAll('uph').map((each) => {
        const [name = '', ...value] = each.split('=')
        return [name, value.join('=')] as const
      }),
    ],
    body: query.get('ub') ?? undefined,
    reset: false,
  }
}
