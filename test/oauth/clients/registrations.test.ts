import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

// One client id at several APIs: each has a registration of its own (model: a record for each API).

const APIS = ['a', 'b', 'c'] as const
type ApiId = (typeof APIS)[number]
const ACTS = ['register', 'change', 'rotate', 'delete', 'issue', 'revoke', 'revokeAll', 'code', 'push'] as const
const act = fc.record({ act: fc.constantFrom(...ACTS), at: fc.constantFrom(...APIS), number: fc.nat(999) })

interface Registration {
  secret: string
  redirect: string
  description: string
}

interface Issued {
  readonly apiId: ApiId
  readonly by: Registration
  readonly access: string
  isLive: boolean
}

let lastClient = 0

/** The registrations of a client id as the product has them, beside a model that shares nothing between APIs. */
class Registrations {
  readonly #world: OAuthWorld
  readonly #id = `app-${++lastClient}`
  readonly #known = new Map<ApiId, Registration>()
  readonly #issued: Issued[] = []
  /** Redirect URIs that any registration ever had. */
  readonly #redirects = new Set<string>()

  constructor(world: OAuthWorld) {
    this.#world = world
  }

  async play(name: (typeof ACTS)[number], at: ApiId, number: number): Promise<void> {
    const known = this.#known.get(at)
    const one = `/svc/oauth/clients/${at}/${this.#id}`
    const fields = { redirect: `https://${at}.example.org/${number}`, description: `${number}` }
    const body = { redirect_uri: fields.redirect, description: fields.description, policies: ['all'] }
    this.#redirects.add(fields.redirect)
    switch (name) {
      case 'register': {
        const secret = `secret-${at}-${number}`
        const status = known === undefined ? 200 : 409
        await this.#svc(status, 'POST', '/svc/oauth/clients/create', {
          ...body,
          client_id: this.#id,
          secret,
          api_id: at,
        })
        if (known === undefined) this.#known.set(at, { ...fields, secret })
        return
      }
      case 'change':
        await this.#svc(known === undefined ? 404 : 200, 'PUT', one, body)
        if (known !== undefined) Object.assign(known, fields)
        return
      case 'rotate': {
        const rotated = await this.#svc(known === undefined ? 404 : 200, 'PUT', `${one}/rotate`)
        if (known !== undefined) known.secret = String(rotated.secret)
        return
      }
      case 'delete':
        await this.#svc(200, 'DELETE', one)
        this.#known.delete(at)
        if (known !== undefined) this.#end(known)
        return
      case 'issue':
        return this.#issue(at, number)
      case 'revoke':
        return this.#revoke(at, number)
      case 'revokeAll': {
        const form = { client_id: this.#id, client_secret: known?.secret ?? 'none' }
        const { status } = await this.#form(`/${at}/oauth/revoke_all`, form)
        assert.equal(status, known === undefined ? 401 : 200)
        if (known !== undefined) this.#end(known)
        return
      }
      case 'code':
        return this.#code(at, number)
      case 'push':
        return this.#push(at, number)
    }
  }

  /** Compares everything that callers can see of registrations. */
  async check(): Promise<void> {
    for (const { apiId, access, isLive } of this.#issued) {
      const { status } = await this.#world.get(`/${apiId}/x`, access)
      assert.equal(status === 200, isLive, `token of ${apiId}: ${status}`)
    }
    const at = [...this.#known.keys()].sort()
    assert.deepEqual(
      ((await this.#svc(200, 'GET', `/svc/oauth/clients/apis/${this.#id}`)) as unknown as string[]).sort(),
      at,
    )
    for (const apiId of APIS) {
      const known = this.#known.get(apiId)
      const seen = await this.#svc(known === undefined ? 404 : 200, 'GET', `/svc/oauth/clients/${apiId}/${this.#id}`)
      if (known !== undefined)
        assert.deepEqual(
          [seen.secret, seen.redirect_uris, seen.description, seen.api_ids],
          [known.secret, [known.redirect], known.description, [apiId]],
        )
      const live = this.#issued.filter((issued) => issued.isLive && issued.apiId === apiId)
      const path = `/svc/oauth/clients/${apiId}/${this.#id}/tokens`
      assert.equal(((await this.#svc(200, 'GET', path)) as unknown as unknown[]).length, live.length)
      for (const redirect of this.#redirects) {
        const query = new URLSearchParams({ response_type: 'code', client_id: this.#id, redirect_uri: redirect })
        const { status } = await this.#world.gateway.call(`/${apiId}/oauth/authorize?${query}`)
        assert.equal(status === 307, known?.redirect === redirect, `${redirect} at ${apiId}: ${status}`)
      }
    }
  }

  async #issue(at: ApiId, number: number): Promise<void> {
    const known = this.#known.get(at)
    // Sometimes with the secret of another registration.
    const secrets = [...this.#known.values()].map(({ secret }) => secret)
    const secret =
      number % 3 === 0 ? (secrets[number % Math.max(1, secrets.length)] ?? 'none') : (known?.secret ?? 'none')
    const { status, json } = await this.#form(`/${at}/oauth/token`, {
      grant_type: 'client_credentials',
      client_id: this.#id,
      client_secret: secret,
    })
    const isOwn = known !== undefined && secret === known.secret
    assert.equal(status, isOwn ? 200 : 401)
    if (isOwn) this.#issued.push({ apiId: at, by: known, access: String(json.access_token), isLive: true })
  }

  async #revoke(at: ApiId, number: number): Promise<void> {
    const known = this.#known.get(at)
    const issued = this.#issued[number % Math.max(1, this.#issued.length)]
    if (issued === undefined) return
    const form = { client_id: this.#id, client_secret: known?.secret ?? 'none', token: issued.access }
    const { status } = await this.#form(`/${at}/oauth/revoke`, form)
    if (known === undefined) return assert.equal(status, 401)
    const isOthers = issued.isLive && issued.by !== known
    assert.equal(status, isOthers ? 400 : 200)
    if (!isOthers) issued.isLive = false
  }

  /** A code of one API is worth nothing at another, nor for the next registration at the same one. */
  async #code(at: ApiId, number: number): Promise<void> {
    const known = this.#known.get(at)
    if (known === undefined) return
    const asked = { response_type: 'code', client_id: this.#id, redirect_uri: known.redirect }
    const concluded = await this.#form(`/${at}/svc/oauth/authorize-client`, asked, {
      'x-svc-authorization': TEST_SECRET,
    })
    const { code } = concluded.json
    assert.ok(typeof code === 'string', JSON.stringify(concluded))
    const use = async (apiId: ApiId) => {
      const own = this.#known.get(apiId)
      return this.#form(`/${apiId}/oauth/token`, {
        ...{ grant_type: 'authorization_code', code: String(code), redirect_uri: known.redirect },
        ...{ client_id: this.#id, client_secret: own?.secret ?? 'none' },
      })
    }
    const other = APIS[number % APIS.length]!
    if (other !== at) assert.ok([400, 401].includes((await use(other)).status))
    if (number % 2 === 0) {
      await this.play('delete', at, number)
      await this.play('register', at, number)
      assert.equal((await use(at)).status, 400)
      return
    }
    const { status, json } = await use(at)
    assert.equal(status, 200)
    this.#issued.push({ apiId: at, by: known, access: String(json.access_token), isLive: true })
  }

  async #push(at: ApiId, number: number): Promise<void> {
    const known = this.#known.get(at)
    if (known === undefined) return
    const pushed = await this.#form(`/${at}/oauth/par`, {
      ...{ client_id: this.#id, client_secret: known.secret, response_type: 'code', redirect_uri: known.redirect },
    })
    assert.equal(pushed.status, 201, JSON.stringify(pushed.json))
    const query = new URLSearchParams({ client_id: this.#id, request_uri: String(pushed.json.request_uri) })
    const other = APIS[number % APIS.length]!
    if (other !== at) assert.equal((await this.#world.gateway.call(`/${other}/oauth/authorize?${query}`)).status, 400)
    assert.equal((await this.#world.gateway.call(`/${at}/oauth/authorize?${query}`)).status, 307)
  }

  #end(by: Registration): void {
    for (const issued of this.#issued) if (issued.by === by) issued.isLive = false
  }

  async #svc(status: number, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await this.#world.gateway.svc(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }

  async #form(
    path: string,
    form: Record<string, string>,
    more: Record<string, string> = {},
  ): Promise<{ status: number; json: JsonObject }> {
    const { status, json } = await this.#world.gateway.call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...more },
      body: new URLSearchParams(form).toString(),
    })
    return { status, json: json as JsonObject }
  }
}

async function opened(t: TestContext): Promise<OAuthWorld> {
  const world = await startWorld(t)
  for (const id of APIS) await world.publish(oauthApi(world.origin.url, { id }))
  await world.policy('all', APIS)
  return world
}

test('registrations of one client id at several APIs share nothing but the id', async (t) => {
  const world = await opened(t)
  const plan = fc.array(act, { minLength: 12, maxLength: 24 })
  await fc.assert(
    fc.asyncProperty(plan, async (acts) => {
      const registrations = new Registrations(world)
      for (const at of ['a', 'b'] as const) await registrations.play('register', at, 1)
      for (const { act: name, at, number } of acts) await registrations.play(name, at, number)
      await registrations.check()
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 400 : 25 },
  )
})
