import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Answer, call } from '../worlds/base/client.ts'
import { datedFields } from '../worlds/gateway/cache-case-dates.ts'
import { type Origin, type SeenRequest, startOrigin } from '../worlds/servers/origin.ts'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

type Headers = Record<string, string | string[]>

/** A step of `rfc9111.json`, as far as it means the same to every cache. */
interface Step {
  readonly is: string
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly after?: number
  readonly status?: number
  readonly says?: Headers
  readonly answer?: Record<string, string | null>
}

interface CacheCase {
  readonly rule: string
  readonly api: string
  readonly steps: readonly Step[]
}

interface World {
  readonly proxy: StartedProxy
  readonly origin: Origin
}

/** Left to the cache by the standard, or said of what only Gatehouse does. */
const CHOICE = [
  /nothing is said|nothing is guessed|alone makes nothing fresh|with field names|206 is not stored|with a body|is no answer from/,
  /Set-Cookie|says of limits|forges|for others|writes itself|without a validator|stores what comes|the host tells|TRACE/,
  /two Expires|absent is not empty|to the letter|keeps its order|are a matter for the upstream|must-understand|passed over/,
  /does not match|a failure|of an older modification|unknown method/,
]
/** Steps that every cache knows. */
const STEPS = /^(?:asked|hit|confirmed|refused)$/

const FILE = join(import.meta.dirname, '../worlds/gateway/rfc9111.json')
const all = JSON.parse(readFileSync(FILE, 'utf8')) as CacheCase[]
const chosen = all.filter(
  ({ rule, api, steps }) =>
    // A real cache has a real clock: nothing that takes time.
    api === 'decides' &&
    steps.every((step) => STEPS.test(step.is) && step.after === undefined) &&
    !CHOICE.some((pattern) => pattern.test(rule)),
)

function caseOf({ rule, steps }: CacheCase, index: number): SuiteCase<World> {
  const [, rfc = '9111', section = '3'] = /^(?:RFC (\d+) )?(\d+)/.exec(rule) ?? []
  return {
    section: rfc === '9111' ? section : rfc,
    name: rule,
    async run(world) {
      const play = new Play(world, `/c${index}`)
      for (const [at, step] of steps.entries()) await play.step(step, `step ${at + 1}, ${step.is}`)
    },
  }
}

/** One case on its way. */
class Play {
  readonly #world: World
  readonly #address: string
  readonly #base = Date.now()
  readonly #bodies = new Set<string>()
  #last: Answer | undefined

  constructor(world: World, address: string) {
    this.#world = world
    this.#address = address
  }

  async step(step: Step, where: string): Promise<void> {
    const { origin, proxy } = this.#world
    const asked = origin.seen.length
    const body = `body ${this.#bodies.size}`
    origin.script = (request, response) => this.#answer(step, request, response, body)
    const { method = 'GET', path = '', headers = {}, body: sent } = step
    const options = {
      method,
      headers: this.#dated(headers) as Record<string, string>,
      ...(sent !== undefined && { body: sent }),
    }
    const answer = await patiently('answer', proxy.patienceMs, call(proxy.http1, this.#address + path, options))
    this.#compare(step, answer, origin.seen.slice(asked), body, where)
    this.#bodies.add(body)
    this.#last = answer
  }

  #answer(step: Step, request: SeenRequest, response: ServerResponse, body: string): void {
    response.sendDate = false
    const status = step.is === 'confirmed' && isConditional(request) ? 304 : (step.status ?? 200)
    const bodiless = status === 304 || status === 204
    const length = bodiless ? {} : { 'Content-Length': String(body.length) }
    response.writeHead(status, this.#dated({ Date: '+0', ...length, ...step.says }))
    response.end(bodiless ? undefined : body)
  }

  /** Seconds from now, or from the beginning of the case. */
  #dated(headers: Headers): Headers {
    return datedFields(headers, Date.now(), this.#base)
  }

  #compare(step: Step, answer: Answer, seen: readonly SeenRequest[], body: string, where: string): void {
    const cached = step.is === 'hit' || step.is === 'confirmed'
    assert.equal(
      seen.length,
      step.is === 'hit' || step.is === 'refused' ? 0 : 1,
      `${where}: how often the upstream was asked`,
    )
    assert.equal(answer.status, step.status ?? 200, `${where}: status`)
    if (step.is === 'confirmed') assert.ok(isConditional(seen[0]!), `${where}: asked with a condition`)
    if (step.method === 'HEAD' || [204, 206, 304, 416].includes(answer.status) || step.is === 'refused') return
    if (cached) assert.ok(this.#bodies.has(answer.text), `${where}: body`)
    else assert.equal(answer.text, body, `${where}: body`)
    for (const [name, wanted] of Object.entries(step.answer ?? {})) {
      if (name.startsWith('x-svc-')) continue
      const got = answer.headers[name] === undefined ? null : String(answer.headers[name])
      assert.equal(got, wanted === 'same' ? this.#last!.headers[name] : wanted, `${where}: ${name}`)
    }
  }
}

const isConditional = ({ headers }: SeenRequest) =>
  headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined

/** RFC 9111 as a shared cache that keeps what upstreams allow. */
export const cache = suiteOf<World>({
  name: 'Cache',
  sections: {
    2: 'RFC 9111 section 2: keys of stored answers',
    3: 'RFC 9111 section 3: what is stored',
    4: 'RFC 9111 section 4: what stored answers are used for, and what ends them',
    5: 'RFC 9111 section 5: `Age` and directives',
    9110: 'RFC 9110 sections 13 and 14: conditions and ranges of stored answers',
    9213: 'RFC 9213: `CDN-Cache-Control`',
  },
  cases: chosen.map(caseOf),
  async open(name, ending) {
    const origin = await startOrigin()
    ending.after(() => origin.close())
    return { origin, proxy: await startProxy(name, { port: origin.port, cache: true }, ending) }
  },
})
