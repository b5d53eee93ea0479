import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { datedFields } from '../../worlds/gateway/cache-case-dates.ts'
import { type CacheScene, openCacheScene } from '../../worlds/gateway/cache-scene.ts'
import type { SeenRequest } from '../../worlds/servers/origin.ts'

type Headers = Record<string, string | string[]>

/**
 * One request. Dates are seconds from the instant of the step (`Date`, `Expires`) or of the case (`Last-Modified`,
 * `If-Modified-Since`, `If-Range` with `modified`), with their sign, and `upper` or `lower` for letters; `{{a}}` is a key.
 */
interface Step {
  /**
   * `asked`: the upstream answers. `hit`: the cache does. `confirmed`: the upstream says 304 to the cache's condition, and the cache
   * answers. `replaced`: the upstream answers such a condition with another answer. `again`: its 304 is not believed, and it is asked
   * once more. `passed 304`: it answers a condition of the client. `meanwhile`: the cache answers, and revalidates. `stood in`: the
   * cache answers instead of a failure. `refused`: no request is made.
   */
  readonly is: string
  readonly method?: string
  /** Behind the address of the case. */
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Seconds that pass before. */
  readonly after?: number
  /** Status that is expected, and that the upstream gives. */
  readonly status?: number
  /** Fields of the upstream's answer. */
  readonly says?: Headers
  /** Fields of the 304 that comes before it. */
  readonly notModified?: Headers
  /** Status of a failing upstream; 0 = it breaks off. */
  readonly failure?: number
  readonly text?: string
  /** Fields that the client must get: a value, null for absent, `same` for what it got before. */
  readonly answer?: Record<string, string | null>
  /** Fields that the upstream must get: a value, or a pattern between slashes. */
  readonly saw?: Record<string, string>
}

interface Case {
  /** Section of RFC 9111 unless another is named, and what it asks for. */
  readonly rule: string
  /** One of the APIs below. */
  readonly api: string
  readonly steps: readonly Step[]
}

const CASES = JSON.parse(readFileSync(join(import.meta.dirname, '../../worlds/gateway/rfc9111.json'), 'utf8')) as Case[]

const ALL = { enabled: true, cacheAllSafeRequests: true, timeout: 60 }
const DECIDES = { ...ALL, enableUpstreamCacheControl: true }
const PATHS = {
  '/{case}/kept': { get: { operationId: 'kept' } },
  '/{case}/errors': { get: { operationId: 'errors' } },
}
const OPERATIONS = {
  kept: { cache: { enabled: true, timeout: 10 } },
  errors: { cache: { enabled: true, cacheResponseCodes: [500] } },
}
const EDITS = { enabled: true, add: [{ name: 'X-In', value: '2' }], remove: ['X-Out'] }

/** APIs by name: settings of the cache, and more of the definition. */
const APIS: Record<string, [cache: JsonObject | undefined, more?: Parameters<CacheScene['publish']>[2]]> = {
  decides: [DECIDES],
  cookies: [{ ...DECIDES, storeSetCookie: true }],
  keyed: [DECIDES, { keyIn: 'Authorization' }],
  keyedany: [
    DECIDES,
    {
      keyIn: 'Authorization',
      authentication: {
        securitySchemes: {
          key: { enabled: true, query: { enabled: true, name: 'key' }, cookie: { enabled: true, name: 'key' } },
        },
      },
    },
  ],
  keyedx: [DECIDES, { keyIn: 'X-Key' }],
  shared: [{ ...DECIDES, shareBetweenKeys: true }, { keyIn: 'X-Key' }],
  sharedauth: [{ ...DECIDES, shareBetweenKeys: true }, { keyIn: 'Authorization' }],
  timeout: [ALL],
  codes: [{ ...ALL, cacheResponseCodes: [200, 201] }],
  headers: [{ ...ALL, cacheByHeaders: ['X-Tenant'] }],
  ttl: [{ ...DECIDES, controlTTLHeaderName: 'X-TTL' }],
  stale: [{ ...ALL, staleWhileRevalidate: 30 }],
  error: [{ ...ALL, staleIfError: 30 }],
  operations: [
    { enabled: true, timeout: 60 },
    { paths: PATHS, operations: OPERATIONS },
  ],
  off: [{ enabled: false }, { paths: PATHS, operations: OPERATIONS }],
  edits: [ALL, { global: { transformResponseHeaders: EDITS } }],
  cors: [DECIDES, { global: { cors: { enabled: true, allowedOrigins: ['https://*.example'] } } }],
}

let scene: CacheScene
const keys: Record<string, string> = {}
const closers: (() => unknown)[] = []

describe('RFC 9111', () => {
  before(async () => {
    scene = await openCacheScene({ after: (close: () => unknown) => void closers.push(close) })
    for (const [id, [cache, more]] of Object.entries(APIS)) await scene.publish(id, cache, more)
    const keyed = ['keyed', 'keyedany', 'keyedx', 'shared', 'sharedauth']
    for (const name of ['a', 'b', 'c']) keys[name] = await scene.key(keyed)
    keys.q = await scene.key(keyed, { quota_max: 10, quota_renewal_rate: 3600 })
  })

  after(async () => {
    for (const close of closers) await close()
  })

  CASES.forEach(({ rule, api, steps }, index) => {
    test(rule, async () => {
      const play = new Play(`/${api}/c${index}`)
      for (const [at, step] of steps.entries()) await play.step(step, `step ${at + 1}, ${step.is}`)
    })
  })
})

/** One case on its way. */
class Play {
  readonly #address: string
  readonly #base = scene.gateway.clock.wall()
  readonly #bodies = new Set<string>()
  #count = 0
  #last: Answer | undefined

  constructor(address: string) {
    this.#address = address
  }

  async step(step: Step, where: string): Promise<void> {
    const { gateway, origin } = scene
    gateway.clock.advance((step.after ?? 0) * 1000)
    const asked = origin.seen.length
    const body = `body ${this.#count++}`
    origin.script = (request, response) => this.#answer(step, request, response, body)
    const answer = await this.#call(step)
    const seen = origin.seen.slice(asked)
    this.#compare(step, answer, seen, body, where)
    if (step.is.startsWith('meanwhile')) {
      await eventually('another is fetched', async () => (await this.#call(step)).headers.age === '0')
      assert.equal(origin.seen.length, asked + 1, `${where}: asked more than once`)
    }
    this.#bodies.add(body)
    this.#last = answer
  }

  #call({ method = 'GET', path = '', headers = {}, body }: Step): Promise<Answer> {
    const withKeys = (text: string) => text.replace(/\{\{(\w)\}\}/, (_, key: string) => keys[key]!)
    const filled = this.#dated(headers)
    for (const [name, value] of Object.entries(filled)) filled[name] = withKeys(String(value))
    return scene.gateway.call(this.#address + withKeys(path), {
      method,
      headers: filled as Record<string, string>,
      ...(body !== undefined && { body }),
    })
  }

  #answer(step: Step, request: SeenRequest, response: ServerResponse, body: string): void {
    response.sendDate = false
    const conditional = isConditional(request)
    if (step.failure === 0) {
      response.destroy()
      return
    }
    const not = step.is === 'again' && conditional ? step.notModified : undefined
    const is304 = not !== undefined || /^(?:confirmed|passed 304|meanwhile 304)$/.test(step.is)
    const status = step.failure ?? (is304 ? 304 : step.is === 'meanwhile' ? 200 : (step.status ?? 200))
    response.writeHead(status, this.#dated({ Date: '+0', ...(not ?? step.says) }))
    response.end(is304 || status === 204 ? undefined : body)
  }

  #dated(headers: Headers): Headers {
    return datedFields(headers, scene.gateway.clock.wall(), this.#base)
  }

  #compare(step: Step, answer: Answer, seen: readonly SeenRequest[], body: string, where: string): void {
    const cached = /^(?:hit|confirmed|meanwhile.*|stood in)$/.test(step.is)
    const mark = cached ? '1' : (step.says?.['X-Svc-Cached-Response'] as string | undefined)
    assert.equal(answer.headers['x-svc-cached-response'], mark, `${where}: mark, status ${answer.status}`)
    const status = step.status ?? (step.is === 'passed 304' ? 304 : 200)
    assert.equal(answer.status, status, `${where}: status; ${answer.text}`)
    this.#compareAsked(step, seen, where)
    const fresh = ['asked', 'replaced', 'again'].includes(step.is) && step.method !== 'HEAD' && status !== 204
    if (step.text !== undefined) assert.equal(answer.text, step.text, `${where}: body`)
    else if (fresh) assert.equal(answer.text, body, `${where}: body`)
    else if (cached && status !== 304 && step.method !== 'HEAD')
      assert.ok(this.#bodies.has(answer.text), `${where}: body ${answer.text}`)
    for (const [name, wanted] of Object.entries(step.answer ?? {})) {
      const got = answer.headers[name] === undefined ? null : String(answer.headers[name])
      assert.equal(got, wanted === 'same' ? this.#last!.headers[name] : wanted, `${where}: ${name}`)
    }
  }

  #compareAsked(step: Step, seen: readonly SeenRequest[], where: string): void {
    const times = { hit: 0, refused: 0, again: 2, 'stood in': seen.length || 1 }[step.is] ?? 1
    if (!step.is.startsWith('meanwhile')) assert.equal(seen.length, times, `${where}: how often the upstream was asked`)
    const conditional = ['confirmed', 'replaced', 'again', 'passed 304'].includes(step.is)
    if (times > 0 && step.is !== 'stood in' && seen[0] !== undefined && !step.is.startsWith('meanwhile'))
      assert.equal(isConditional(seen[0]), conditional, `${where}: asked with a condition`)
    if (step.is === 'again') assert.equal(isConditional(seen[1]!), false, `${where}: asked again with a condition`)
    for (const [name, wanted] of Object.entries(step.saw ?? {})) {
      const got = String(seen[0]!.headers[name])
      if (wanted.startsWith('/')) assert.match(got, new RegExp(wanted.slice(1, -1)), `${where}: upstream saw ${name}`)
      else assert.equal(got, wanted, `${where}: upstream saw ${name}`)
    }
  }
}

function isConditional({ headers }: SeenRequest): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
}
