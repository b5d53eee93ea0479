import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, call } from '../base/client.ts'
import { defined, rights } from '../base/definitions.ts'
import { eventually } from '../base/eventually.ts'
import { startOrigin } from '../servers/origin.ts'
import { BASIC, done, FORM, liveAt, REDIRECT, storeOAuth } from './acts.ts'
import type { Operation, Refreshed, Revocation, Taking, Use } from './history.ts'
import { type LossyNetwork, startLossyNetwork } from './lossy-network.ts'
import { type Cluster, type Node, SECRET } from './nodes.ts'

/** Clients that share one grant, or one token. */
const GROUP = 4
const GROUPS = 4
/** Each client of a group refreshes so often before the group takes another grant. */
const TURNS = 4
/** Of the answers to clients of refreshes and quotas, that is: what was done and nobody heard of. */
const LOST_ANSWERS = 0.03
/** The time of looking after a revocation was answered; longer than it may take. */
const AFTERWARDS_MS = 1_600
const PROMISED_MS = 1_000

/** Where clients reach a gateway: `front` may be a network that fails. */
export interface PlayedPlace {
  readonly node: Pick<Node, 'port'>
  readonly front: { readonly port: number }
  /** When nothing passed between it and PostgreSQL, from and to. */
  readonly cutOff: { readonly from: number; to: number }[]
}

/** A gateway, and the networks between it and the others. */
export interface Place extends PlayedPlace {
  readonly node: Node
  readonly front: LossyNetwork
  readonly postgres: LossyNetwork
  readonly redis: LossyNetwork
}

/** The gateways that clients play with, and a key of a quota. */
export interface World<At extends PlayedPlace = PlayedPlace> {
  readonly places: readonly At[]
  readonly key: string
}

/** Three gateways behind separate networks, started by `start`, with an authorization server `tok` and a key of `quota` for `shop`. */
export async function startWorld(
  t: TestContext,
  cluster: Cluster,
  { start, quota }: { start: (env: Record<string, string>) => Promise<Node>; quota: number },
): Promise<World<Place>> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const places = await Promise.all([0, 1, 2].map((place) => startPlace(t, cluster, place, start)))
  const nodes = places.map(({ node }) => node)
  const key = await storeWorld(nodes[0]!, origin.url, quota)
  await liveAt(nodes, '/shop/x', 401)
  await liveAt(nodes, '/tok/x', 401)
  return { places, key }
}

/** Stores the authorization server `tok` and the API `shop`; answers a key of `quota` for it. */
export async function storeWorld(node: Pick<Node, 'svc'>, url: string, quota: number): Promise<string> {
  await storeOAuth(node, url)
  await done(node.svc('POST', '/svc/apis/oas', defined({ id: 'shop', url, keyIn: 'authorization' })))
  const limits = { quota_max: quota, quota_renewal_rate: 3600 }
  return String((await done(node.svc('POST', '/svc/keys/create', { ...limits, access_rights: rights('shop') }))).key)
}

async function startPlace(
  t: TestContext,
  cluster: Cluster,
  place: number,
  start: (env: Record<string, string>) => Promise<Node>,
): Promise<Place> {
  const postgres = await startLossyNetwork(t, { path: cluster.postgres.socket })
  const redis = await startLossyNetwork(t, { port: cluster.redis.port })
  const node = await start({
    SVC_GW_NODENAME: `place-${place}`,
    SVC_STORAGE_POSTGRESURL: `postgres://gatehouse@127.0.0.1:${postgres.port}/postgres`,
    SVC_STORAGE_REDISURL: `redis://127.0.0.1:${redis.port}`,
  })
  return { node, postgres, redis, cutOff: [], front: await startLossyNetwork(t, { port: node.port }) }
}

/** Makes trouble between the parts, at random, until the function that it answers is called; that one says what was done. */
export function makeTrouble(places: readonly Place[], loseAnswers = LOST_ANSWERS): () => Promise<string> {
  const counts = new Map<string, number>()
  let running = true
  const hold = async ({ postgres, cutOff }: Place) => {
    const interval = { from: performance.now(), to: Number.POSITIVE_INFINITY }
    cutOff.push(interval)
    const release = postgres.hold()
    await wait(randomInt(100, 1_500))
    release()
    interval.to = performance.now()
  }
  const acts: readonly [string, (place: Place) => unknown][] = [
    ['PostgreSQL cut', ({ postgres }) => postgres.cut()],
    ['Redis cut', ({ redis }) => redis.cut()],
    ['clients cut', ({ front }) => front.cut()],
    ['PostgreSQL held', hold],
  ]
  for (const { front, postgres, redis } of places) {
    front.loseAnswers = loseAnswers
    postgres.delayMs = 10
    redis.delayMs = 3
  }
  const run = async () => {
    while (running) {
      await wait(randomInt(100, 400))
      const [name, act] = acts[randomInt(acts.length)]!
      counts.set(name, (counts.get(name) ?? 0) + 1)
      await act(places[randomInt(places.length)]!)
    }
  }
  const ending = run()
  return async () => {
    running = false
    await ending
    for (const { front, postgres, redis } of places) {
      front.loseAnswers = 0
      postgres.delayMs = 0
      redis.delayMs = 0
    }
    return [...counts].map(([name, count]) => `${name} ${count} times`).join(', ')
  }
}

/** One request through the network of a place; undefined where no answer came. */
async function ask(
  { front }: PlayedPlace,
  path: string,
  headers: Record<string, string>,
  form?: Record<string, string>,
) {
  const post = form && { method: 'POST', body: new URLSearchParams(form).toString() }
  const calledAt = performance.now()
  const answer: Answer | undefined = await call(front.port, path, { headers, ...post }).catch(() => undefined)
  return { calledAt, answeredAt: performance.now(), answer }
}

const anyOf = <T>(list: readonly T[]): T => list[randomInt(list.length)]!
const TOKEN = '/tok/oauth/token'

/** The first refresh token of a new grant. */
async function newGrant({ places }: World): Promise<string> {
  let token = ''
  await eventually('a grant is given', async () => {
    const { node } = anyOf(places)
    const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
    const code = await call(node.port, '/tok/svc/oauth/authorize-client', {
      ...{ method: 'POST', headers: { ...FORM, 'x-svc-authorization': SECRET } },
      body: form({ response_type: 'code', client_id: 'app', redirect_uri: REDIRECT }),
    })
    if (code.status !== 200) return false
    const fields = { grant_type: 'authorization_code', code: String((code.json as { code: string }).code) }
    const body = form({ ...fields, redirect_uri: REDIRECT })
    const made = await call(node.port, TOKEN, { method: 'POST', headers: { ...BASIC, ...FORM }, body })
    if (made.status === 200) token = (made.json as { refresh_token: string }).refresh_token
    return made.status === 200
  })
  return token
}

/** The history of one grant. */
export interface Grant {
  readonly first: string
  readonly history: Operation<string, Refreshed>[]
}

/** Sixteen clients refresh for a while, four of them with the tokens of one grant, mostly the newest that they know of. */
export async function playRefreshes(world: World, forMs: number): Promise<Grant[]> {
  const until = performance.now() + forMs
  const grants: Grant[] = []
  const group = async () => {
    while (performance.now() < until) {
      const first = await newGrant(world)
      const grant: Grant = { first, history: [] }
      grants.push(grant)
      const known = [first]
      await Promise.all(Array.from({ length: GROUP }, () => refreshInTurns(world, grant, known)))
    }
  }
  await Promise.all(Array.from({ length: GROUPS }, group))
  return grants
}

async function refreshInTurns({ places }: World, { history }: Grant, known: string[]): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    const input = Math.random() < 0.8 ? known.at(-1)! : anyOf(known)
    const form = { grant_type: 'refresh_token', refresh_token: input }
    const { calledAt, answeredAt, answer } = await ask(anyOf(places), TOKEN, { ...BASIC, ...FORM }, form)
    const output = refreshed(answer)
    if (typeof output === 'object') known.push(output.gave)
    history.push({ input, calledAt, output, answeredAt: output === undefined ? Number.POSITIVE_INFINITY : answeredAt })
  }
}

function refreshed(answer: Answer | undefined): Refreshed | undefined {
  const body = answer?.json as { refresh_token?: string; error?: string } | undefined
  if (answer?.status === 200) return { gave: body!.refresh_token! }
  // Anything else but a refusal may have been done.
  return answer?.status === 400 && body?.error === 'invalid_grant' ? 'refused' : undefined
}

/** The history of one token. */
export interface Revoked {
  readonly uses: Use[]
  readonly revoked: Revocation
}

/** Sixteen clients use tokens for a while, four of them one token, which one of them revokes. */
export async function playRevocations(world: World, forMs: number): Promise<Revoked[]> {
  const until = performance.now() + forMs
  const all: Revoked[] = []
  const group = async () => {
    while (performance.now() < until) all.push(await useAndRevoke(world))
  }
  await Promise.all(Array.from({ length: GROUPS }, group))
  return all
}

async function useAndRevoke({ places }: World): Promise<Revoked> {
  const post = { method: 'POST', headers: { ...BASIC, ...FORM }, body: 'grant_type=client_credentials' }
  const made = await call(anyOf(places).node.port, TOKEN, post)
  assert.equal(made.status, 200, made.text)
  const token = (made.json as { access_token: string }).access_token
  const headers = { authorization: `Bearer ${token}` }
  const uses: Use[] = []
  let until = Number.POSITIVE_INFINITY
  const use = async () => {
    while (performance.now() < until) {
      const node = randomInt(places.length)
      const { calledAt, answeredAt, answer } = await ask(places[node]!, '/tok/x', headers)
      if (answer?.status === 200) uses.push({ node, calledAt, answeredAt, accepted: true })
      else if (answer?.status === 401) uses.push({ node, calledAt, answeredAt, accepted: false })
      await wait(randomInt(5))
    }
  }
  const using = Array.from({ length: GROUP - 1 }, use)
  await wait(randomInt(100, 400))
  const node = randomInt(places.length)
  const revoked = await ask(places[node]!, '/tok/oauth/revoke', { ...BASIC, ...FORM }, { token })
  const heard = revoked.answer?.status === 200
  until = performance.now() + AFTERWARDS_MS
  await Promise.all(using)
  const answeredAt = heard ? revoked.answeredAt : Number.POSITIVE_INFINITY
  return { uses, revoked: { node, calledAt: revoked.calledAt, answeredAt } }
}

/** When a node must refuse a credential that was revoked elsewhere: within a second, counted from when it has PostgreSQL again. */
export function dueAt({ cutOff }: PlayedPlace, revokedAt: number): number {
  let due = revokedAt + PROMISED_MS
  for (const { from, to } of cutOff) if (from <= due && to >= revokedAt) due = Math.max(due, to + PROMISED_MS)
  return due
}

/** Sixteen clients use up a quota, nine of ten of their calls at one place, until each was refused a few times, or time is up. */
export async function playQuota({ places, key }: World, forMs: number): Promise<Taking[]> {
  const until = performance.now() + forMs
  const takings: Taking[] = []
  const client = async () => {
    for (let refusals = 0; refusals < 5 && performance.now() < until; ) {
      const place = Math.random() < 0.9 ? places[0]! : anyOf(places)
      const { calledAt, answeredAt, answer } = await ask(place, '/shop/x', { authorization: key })
      const outcome = answer?.status === 200 ? 'taken' : answer?.status === 429 ? 'used up' : undefined
      if (outcome === 'used up') refusals++
      takings.push({ calledAt, answeredAt, outcome })
      // Without counts an API refuses at once: nobody gains by asking again at once.
      if (outcome === undefined) await wait(10)
    }
  }
  await Promise.all(Array.from({ length: GROUP * GROUPS }, client))
  return takings
}
