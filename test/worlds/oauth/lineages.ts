import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { World } from './core-world.ts'
import { basic, CALLBACK, SECRET, VERIFIER } from './front-fixtures.ts'

/** A use of something that a grant gave. `pick` chooses among what there is. */
type Use =
  | { readonly is: 'exchange'; readonly pick: number; readonly times: number }
  | { readonly is: 'refresh'; readonly pick: number; readonly times: number }
  | { readonly is: 'revoke'; readonly pick: number; readonly what: 'access' | 'refresh' }

/** An event in a world. */
export type Happening =
  | Use
  | { readonly is: 'code'; readonly client: number }
  | { readonly is: 'revoke all'; readonly client: number }
  | { readonly is: 'delete'; readonly client: number }
  | { readonly is: 'create'; readonly client: number }

/** Things that happen at once, after a wait. */
export interface Round {
  readonly waitMs: number
  readonly happenings: readonly Happening[]
}

const CLIENTS = ['left', 'right'] as const
const CODE_LIFE_MS = 60_000
/** After its end: from then on a second use is that of an unknown code. */
const CODE_REMEMBERED_MS = 3_600_000
const ACCESS_LIFE_MS = 3_600_000

const client = fc.nat({ max: CLIENTS.length - 1 })
const pick = fc.nat({ max: 20 })
const times = fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 2, 3)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant('code' as const), client }) },
  { weight: 6, arbitrary: fc.record({ is: fc.constant('exchange' as const), pick, times }) },
  { weight: 8, arbitrary: fc.record({ is: fc.constant('refresh' as const), pick, times }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('revoke' as const),
      pick,
      what: fc.constantFrom('access' as const, 'refresh' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constantFrom('revoke all' as const, 'delete' as const, 'create' as const), client }),
  },
)

export const rounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 0, 0, 1000, 70_000, 3_700_000),
    happenings: fc.array(happening, { minLength: 1, maxLength: 5 }),
  }),
  { minLength: 3, maxLength: 25 },
)

interface Ticket {
  readonly text: string
  /** Ended before this round began, or used: a further use is a replay. */
  used: boolean
}

/** All that came from one code. */
interface Lineage {
  readonly clientId: string
  readonly epoch: string
  readonly madeAt: number
  readonly code: Ticket
  readonly accesses: { readonly text: string; readonly until: number }[]
  readonly refreshes: Ticket[]
  /** Something of it was used twice, or its refresh token revoked: nothing of it may live any more. */
  ended: boolean
}

/** How often things went well, so that a test can tell that it tested something. */
export interface Tally {
  exchanged: number
  refreshed: number
  replayed: number
}

/** Plays rounds against a world and checks after each what must always hold. */
export class Lineages {
  readonly tally: Tally = { exchanged: 0, refreshed: 0, replayed: 0 }
  readonly #world: World
  readonly #all: Lineage[] = []
  /** Epoch of each client that there is. */
  readonly #epochs = new Map<string, string>()
  #made = 0

  constructor(world: World) {
    this.#world = world
  }

  async begin(): Promise<void> {
    for (let i = 0; i < CLIENTS.length; i++) await this.#create(i)
  }

  /** `settle` waits for concurrent calls, in any order. */
  async play({ waitMs, happenings }: Round, settle: <T>(all: Promise<T>) => Promise<T>): Promise<void> {
    this.#world.clock.advance(waitMs)
    await settle(Promise.all(happenings.map((each) => this.#happen(each))))
  }

  async check(): Promise<void> {
    const now = this.#world.clock.wallMs
    for (const lineage of this.#all) {
      const { clientId, epoch, accesses, refreshes, ended } = lineage
      const alive = this.#epochs.get(clientId) === epoch
      const living = []
      for (const { text, until } of accesses) {
        if (!(await this.#world.look(text)).active) continue
        living.push(text)
        assert.ok(alive, 'a token outlived its client')
        assert.ok(now < until, 'a token outlived itself')
      }
      assert.ok(living.length <= 1, 'two access tokens of one lineage live')
      const usable = []
      for (const { text } of refreshes) if (alive && (await this.#isActive(clientId, text))) usable.push(text)
      assert.ok(usable.length <= 1, 'two refresh tokens of one lineage live')
      if (ended) assert.equal(living.length + usable.length, 0, 'something lives after a replay')
    }
  }

  async #happen(happening: Happening): Promise<void> {
    if (happening.is === 'code') return this.#code(happening.client)
    if (happening.is === 'create') return this.#create(happening.client)
    if (happening.is === 'delete') return this.#delete(happening.client)
    if (happening.is === 'revoke all') return this.#revokeAll(happening.client)
    const lineage = this.#choose(happening)
    if (lineage === undefined) return
    if (happening.is === 'exchange') return this.#use(lineage, lineage.code, happening.times)
    const last = lineage.refreshes[Math.max(0, lineage.refreshes.length - 1 - (happening.pick % 7 === 0 ? 1 : 0))]
    if (happening.is === 'refresh') return last && this.#use(lineage, last, happening.times)
    const token = happening.what === 'refresh' ? last?.text : lineage.accesses.at(-1)?.text
    if (token !== undefined) await this.#revoke(lineage, token, happening.what)
  }

  /** Mostly one that something can still come of. */
  #choose({ is, pick }: Use): Lineage | undefined {
    const fresh = this.#all.filter(({ code, refreshes, ended }) =>
      is === 'exchange' ? !code.used : refreshes.length > 0 && !ended,
    )
    const among = pick % 4 === 0 || fresh.length === 0 ? this.#all : fresh
    return among[pick % Math.max(1, among.length)]
  }

  /** Brings a code or refresh token, so many times at once. */
  async #use(lineage: Lineage, ticket: Ticket, many: number): Promise<void> {
    const isCode = ticket === lineage.code
    const before = ticket.used
    const form: Record<string, string> = isCode
      ? { grant_type: 'authorization_code', code: ticket.text, redirect_uri: CALLBACK, code_verifier: VERIFIER }
      : { grant_type: 'refresh_token', refresh_token: ticket.text }
    const startedAt = this.#world.clock.wallMs
    const headers = basic(lineage.clientId)
    const all = await Promise.all(Array.from({ length: many }, () => this.#world.token(form, { headers })))
    const won = all.filter(({ status }) => status === 200)
    for (const { status, body } of all)
      assert.ok(
        status === 200 || ['invalid_grant', 'invalid_client'].includes(String(body.error)),
        JSON.stringify(body),
      )
    assert.ok(won.length <= 1 && !(before && won.length > 0), 'something that can be used once was used twice')
    if (isCode && won.length > 0) assert.ok(startedAt < lineage.madeAt + CODE_LIFE_MS, 'a lapsed code was taken')
    if (won.length > 0) {
      ticket.used = true
      this.tally[isCode ? 'exchanged' : 'refreshed']++
      this.#take(lineage, won[0]!.body)
    }
    const replays = before ? many : won.length > 0 ? many - 1 : 0
    const seen =
      this.#epochs.get(lineage.clientId) === lineage.epoch && all.some(({ body }) => body.error === 'invalid_grant')
    const forgotten = isCode && startedAt >= lineage.madeAt + CODE_LIFE_MS + CODE_REMEMBERED_MS
    if (replays === 0 || !seen || forgotten) return
    lineage.ended = true
    this.tally.replayed++
  }

  #take(lineage: Lineage, { access_token, refresh_token }: JsonObject): void {
    const until = this.#world.clock.wallMs + ACCESS_LIFE_MS
    lineage.accesses.push({ text: String(access_token), until })
    lineage.refreshes.push({ text: String(refresh_token), used: false })
  }

  async #revoke(lineage: Lineage, token: string, what: 'access' | 'refresh'): Promise<void> {
    const { status } = await this.#world.ask('revoke', { headers: basic(lineage.clientId), form: { token } })
    if (status === 200 && what === 'refresh') lineage.ended = true
  }

  async #code(which: number): Promise<void> {
    const clientId = CLIENTS[which]!
    const epoch = this.#epochs.get(clientId)
    const client = await this.#world.parts.findClient(clientId, this.#world.api)
    if (epoch === undefined || client === undefined || client.epoch !== epoch) return
    const text = await this.#world.code(client)
    const madeAt = this.#world.clock.wallMs
    this.#all.push({ clientId, epoch, madeAt, code: { text, used: false }, accesses: [], refreshes: [], ended: false })
  }

  async #create(which: number): Promise<void> {
    const clientId = CLIENTS[which]!
    if (this.#epochs.has(clientId)) return
    const epoch = `epoch-${++this.#made}`
    this.#epochs.set(clientId, epoch)
    await this.#world.putClient({ client_id: clientId, epoch })
  }

  async #delete(which: number): Promise<void> {
    const clientId = CLIENTS[which]!
    await this.#world.deleteClient(clientId)
    this.#epochs.delete(clientId)
  }

  async #revokeAll(which: number): Promise<void> {
    const clientId = CLIENTS[which]!
    const form = { client_id: clientId, client_secret: SECRET }
    const { status } = await this.#world.ask('revoke_all', { form })
    const epoch = (await this.#world.parts.findClient(clientId, this.#world.api))?.epoch
    if (status === 200 && epoch !== undefined) this.#epochs.set(clientId, epoch)
  }

  async #isActive(clientId: string, token: string): Promise<boolean> {
    const { body } = await this.#world.ask('introspect', { headers: basic(clientId), form: { token } })
    return body.active === true
  }
}
