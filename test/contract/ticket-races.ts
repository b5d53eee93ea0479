import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import type { Change, Store, TicketInput } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 200 : 20
const NAMES = ['a', 'b', 'c']
const FAMILIES = ['', 'f', 'g']

/** A ticket as the naive model keeps it. */
interface Known {
  readonly row: TicketInput
  readonly version: number
  readonly claimedAt: number
}

type Step =
  | { do: 'put'; name: string; family: string; lifeMs: number; keepMs: number; ifAbsent: boolean; ifVersion: number }
  | { do: 'claim'; name: string }
  | { do: 'delete'; name: string }
  | { do: 'end'; family: string }
  | { do: 'session'; name: string; family: string; lifeMs: number }

const name = fc.constantFrom(...NAMES)
const family = fc.constantFrom(...FAMILIES)
const lifeMs = fc.constantFrom(0, 10, 1000, 1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('claim' as const), name }), weight: 5 },
  {
    arbitrary: fc.record({
      ...{ do: fc.constant('put' as const), name, family, lifeMs },
      ...{ keepMs: lifeMs, ifAbsent: fc.boolean(), ifVersion: fc.constantFrom(0, 0, 0, 0, 1, 2) },
    }),
    weight: 6,
  },
  fc.record({ do: fc.constant('delete' as const), name }),
  fc.record({ do: fc.constant('end' as const), family: fc.constantFrom('f', 'g') }),
  fc.record({ do: fc.constant('session' as const), name, family, lifeMs }),
)
/** Commits that are handed in at once, then what happens before the next ones. */
const round = fc.record({
  commits: fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
  jumpMs: fc.constantFrom(0, 5, 10, 1000, -10, -1000),
  purge: fc.boolean(),
})

/** The rows that any series of commits, clock jumps and purges must leave. */
class Model {
  tickets = new Map<string, Known>()
  sessions = new Map<string, { family: string; evictAt: number }>()

  /** Runs a commit: true when it goes through; one that does not leaves nothing. */
  commit(changes: readonly Change[], now: number): boolean {
    const before = { tickets: new Map(this.tickets), sessions: new Map(this.sessions) }
    if (changes.every((change) => this.apply(change, now))) return true
    Object.assign(this, before)
    return false
  }

  /** The rows that the store may have forgotten by then. */
  due(now: number): { tickets: string[]; sessions: string[] } {
    return {
      tickets: [...this.tickets].filter(([, { row }]) => row.keepUntil <= now).map(([key]) => key),
      sessions: [...this.sessions].filter(([, { evictAt }]) => evictAt <= now).map(([key]) => key),
    }
  }

  private apply(change: Change, now: number): boolean {
    if (change.op === 'endFamily') {
      for (const [key, { row }] of this.tickets) if (row.family === change.family) this.tickets.delete(key)
      for (const [key, one] of this.sessions) if (one.family === change.family) this.sessions.delete(key)
      return true
    }
    if (!('hash' in change)) throw new Error('not made here')
    const key = Buffer.from(change.hash).toString('hex')
    if (change.op === 'deleteTicket') this.tickets.delete(key)
    if (change.op === 'putSession') {
      this.sessions.set(key, { family: change.row.family ?? '', evictAt: change.row.evictAt })
    }
    const held = this.tickets.get(key)
    if (change.op === 'claimTicket') {
      if (held === undefined || held.claimedAt > 0 || held.row.expiresAt <= now) return false
      this.tickets.set(key, { ...held, claimedAt: now })
    }
    if (change.op !== 'putTicket') return true
    const found = held !== undefined && held.row.keepUntil > now ? held : undefined
    if (change.ifAbsent && found !== undefined && found.row.expiresAt > now) return false
    if (change.ifVersion !== undefined && (found?.version !== change.ifVersion || found.claimedAt > 0)) return false
    const claimedAt = change.ifAbsent ? 0 : (found?.claimedAt ?? 0)
    this.tickets.set(key, { row: change.row, version: (found?.version ?? 0) + 1, claimedAt })
    return true
  }
}

/** Properties of tickets under many callers, purges and a clock that jumps. */
export function ticketRaces(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: any interleaving of puts, claims and ends leaves the state of its commits`, async (t) => {
      let claims = 0
      let refused = 0
      const clock = new FakeClock()
      const store = await open(t, clock)
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 8 }), async (rounds) => {
          // One store for all runs, with separate names: opening one costs more than the run.
          const prefix = `${run++} `
          const model = new Model()
          for (const { commits, jumpMs, purge } of rounds) {
            const now = clock.wall()
            const changes = commits.map((steps) => steps.map((one) => changeOf(one, prefix, now)))
            const results = await Promise.allSettled(changes.map((one) => store.documents.commit(one, undefined)))
            for (const [i, { status }] of results.entries()) {
              assert.equal(status === 'fulfilled', model.commit(changes[i]!, now), JSON.stringify(commits[i]))
              if (changes[i]!.some(({ op }) => op === 'claimTicket')) status === 'fulfilled' ? claims++ : refused++
            }
            const due = model.due(now)
            if (purge) await store.purge()
            clock.advance(jumpMs)
            // Ends with what is due by now: a purge of the store's own is over as well.
            await store.purge()
            await forget(store, model, due, purge)
            await compare(store, model, prefix, clock.wall())
          }
        }),
        { numRuns: RUNS },
      )
      t.diagnostic(`${claims} commits with a claim went through, ${refused} were refused`)
      assert.ok(claims > 0 && refused > 0)
    })

    test(`${name}: each of 20 tickets is used at most once by 100 callers while others end families`, async (t) => {
      const { documents, tokens } = await open(t)
      const now = new FakeClock().wall()
      const names = Array.from({ length: 20 }, (_, n) => `ticket ${n}`)
      await documents.commit(
        names.map((one, n) => putTicket(one, { family: `family ${n % 5}` })),
        undefined,
      )
      const uses = new Map(names.map((one) => [one, 0]))
      const use = async (one: string, caller: number) => {
        const claim: Change = { op: 'claimTicket', hash: hashKey(one), sort: 'refresh', now }
        const token = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: 'c', evictAt: 0, family: one }
        const done = await documents
          .commit([claim, { op: 'putSession', hash: hashKey(`${one} ${caller}`), row: token }], undefined)
          .then(
            () => 1,
            () => 0,
          )
        uses.set(one, uses.get(one)! + done)
      }
      const ends = [3, 4].map((n) => documents.commit([{ op: 'endFamily', family: `family ${n}` }], undefined))
      const callers = Array.from({ length: 100 }, (_, caller) =>
        Promise.all(names.map((_one, n) => use(names[(n + caller) % names.length]!, caller))),
      )
      await Promise.all([...ends, ...callers])
      assert.deepEqual(
        [...uses.values()],
        names.map((_, n) => (n % 5 < 3 ? 1 : 0)),
      )
      assert.equal(await tokens.countSessions({ clientId: 'c' }), 12)
    })
  }
}

function putTicket(
  one: string,
  more: Partial<TicketInput>,
  when: { ifAbsent?: boolean; ifVersion?: number } = {},
): Change {
  const end = new FakeClock().wall() + 1_000_000
  const row = {
    sort: 'refresh',
    apiId: 'a',
    clientId: 'c',
    family: '',
    expiresAt: end,
    keepUntil: end,
    body: {},
  } as const
  return { op: 'putTicket', hash: hashKey(one), row: { ...row, ...more }, ...when }
}

function changeOf(one: Step, prefix: string, now: number): Change {
  const withPrefix = (text: string) => (text === '' ? '' : prefix + text)
  switch (one.do) {
    case 'put': {
      const expiresAt = now + one.lifeMs
      const row = { family: withPrefix(one.family), expiresAt, keepUntil: expiresAt + one.keepMs }
      if (one.ifVersion > 0) return putTicket(prefix + one.name, row, { ifVersion: one.ifVersion })
      return putTicket(prefix + one.name, row, { ifAbsent: one.ifAbsent })
    }
    case 'claim':
      return { op: 'claimTicket', hash: hashKey(prefix + one.name), sort: 'refresh', now }
    case 'delete':
      return { op: 'deleteTicket', hash: hashKey(prefix + one.name) }
    case 'end':
      return { op: 'endFamily', family: prefix + one.family }
    case 'session': {
      const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: now + one.lifeMs }
      return { op: 'putSession', hash: hashKey(prefix + one.name), row: { ...row, family: withPrefix(one.family) } }
    }
  }
}

/** Expired rows may be gone although the clock was set back, and after a purge they are. */
async function forget({ tokens }: Store, model: Model, due: ReturnType<Model['due']>, purged: boolean): Promise<void> {
  for (const key of due.tickets) {
    if (purged || (await tokens.getTicket(Buffer.from(key, 'hex'))) === undefined) model.tickets.delete(key)
  }
  for (const key of due.sessions) {
    if (purged || (await tokens.getSession(Buffer.from(key, 'hex'))) === undefined) model.sessions.delete(key)
  }
}

/** Both show the same tickets and sessions. */
async function compare({ tokens }: Store, model: Model, prefix: string, now: number): Promise<void> {
  for (const one of NAMES) {
    const hash = hashKey(prefix + one)
    const key = hash.toString('hex')
    const found = await tokens.getTicket(hash)
    const held = model.tickets.get(key)
    const known = held && held.row.keepUntil > now ? held : undefined
    assert.deepEqual(
      found && [found.version, found.claimedAt, found.expiresAt, found.keepUntil, found.family],
      known && [known.version, known.claimedAt, known.row.expiresAt, known.row.keepUntil, known.row.family],
    )
    const evictAt = model.sessions.get(key)?.evictAt ?? 0
    assert.equal((await tokens.getSession(hash))?.evictAt ?? 0, evictAt > now ? evictAt : 0)
  }
}
