import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { namedRates } from '../../../src/gateway/server/limit-fields.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type LimitOwner, makeLimit } from '../../../src/model/limits/limit.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { classic, rights } from '../../worlds/base/definitions.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Who can own a limit of a call, and of which kind, in the order in which they are checked. */
const LIMITS = [
  ['organisation', 'rate'],
  ['organisation', 'quota'],
  ['operation', 'rate'],
  ['api', 'rate'],
  ['endpoint', 'rate'],
  ['key', 'rate'],
  ['key', 'quota'],
] as const

type Named = (typeof LIMITS)[number] extends infer L
  ? L extends readonly [infer O extends string, infer K extends string]
    ? `${O} ${K}`
    : never
  : never
const NAMES = LIMITS.map(([owner, kind]) => `${owner} ${kind}` as Named)

/** The refusal of each: its text, and its event. */
const REFUSALS: Readonly<Record<Named, readonly [text: RegExp, event: string]>> = {
  'organisation rate': [/^This organisation has exceeded its rate limit/, 'OrgRateLimitExceeded'],
  'organisation quota': [/^This organisation has used up its quota/, 'OrgQuotaExceeded'],
  'operation rate': [/^API Rate Limit Exceeded$/, 'RatelimitExceeded'],
  'api rate': [/^API Rate Limit Exceeded$/, 'RatelimitExceeded'],
  'endpoint rate': [/^Rate Limit Exceeded$/, 'RatelimitExceeded'],
  'key rate': [/^Rate Limit Exceeded$/, 'RatelimitExceeded'],
  'key quota': [/^Quota exceeded$/, 'QuotaExceeded'],
}

/** Each alone, each as the tightest beside each other, and each as the tightest of all. */
const CASES: readonly (readonly [tightest: Named, others: readonly Named[]])[] = NAMES.flatMap((tightest) => {
  const others = NAMES.filter((name) => name !== tightest && !areExclusive(name, tightest))
  const all = tightest === 'endpoint rate' ? others : others.filter((name) => name !== 'endpoint rate')
  return [[], ...others.map((other) => [other]), all].map((beside) => [tightest, beside] as const)
})

/** A key's rate at an endpoint replaces its rate. */
function areExclusive(a: Named, b: Named): boolean {
  return a !== b && [a, b].every((name) => name === 'endpoint rate' || name === 'key rate')
}

const ORG = 'org1'
const RATE_PER_S = 60
const QUOTA_PER_S = 3600
const PERMITS = 2

/** The size of a limit of the case: the tightest `PERMITS`, each of the others another number. */
const sizeOf = (name: Named, tightest: Named) => (name === tightest ? PERMITS : 10 + NAMES.indexOf(name))

test('header, svc/rate-limits/, refusal and event name the owner of the tightest limit', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())

  for (const [tightest, others] of CASES) {
    const title = `${tightest} beside ${others.join(', ') || 'none'}`
    const present = NAMES.filter((name) => name === tightest || others.includes(name))
    const size = (name: Named) => (present.includes(name) ? sizeOf(name, tightest) : 0)
    await limitOrganisation(gateway, size('organisation rate'), size('organisation quota'))
    await defineApi(gateway, origin.url, size('api rate'), size('operation rate'))
    const key = await makeKey(gateway, { key: size('key rate'), endpoint: size('endpoint rate') }, size('key quota'))
    const call = (path: string) => gateway.call(`/k${path}`, { headers: { 'X-Key': key } })
    gateway.log.length = 0
    for (let used = 0; used <= PERMITS; used++) {
      const expected = expectedOf(present, tightest, used, used === PERMITS)
      const told = await call('/svc/rate-limits/')
      // The limit of an operation is known only once a call names it.
      const general = present.filter((name) => name !== 'operation rate')
      const before = expectedOf(general, tightest, used, used === PERMITS)
      assert.equal(told.status, 200, title)
      assert.deepEqual(
        namesIn(told),
        before.rates.map(({ name }) => name),
        title,
      )
      assert.deepEqual(bodyOf(told), before.body, `${title}, used ${used}`)
      const answer = await call('/x')
      assert.equal(answer.status, used < PERMITS ? 200 : 429, title)
      const after = used < PERMITS ? expectedOf(present, tightest, used + 1, false) : expected
      assert.deepEqual(fieldsOf(answer), after.fields, `${title}, used ${used}`)
      if (used < PERMITS) continue
      const [text, event] = REFUSALS[tightest]
      assert.match((answer.json as { error: string }).error, text, title)
      const events = () => gateway.log.map(({ fields }) => fields.event).filter((name) => name !== undefined)
      await becomes(events, [event], title)
      if (!present.includes('operation rate')) assert.deepEqual(fieldsOf(told), fieldsOf(answer), title)
    }
    gateway.clock.advance((QUOTA_PER_S + 1) * 1000)
  }
})

test('no two rates of one answer have one name, and each begins with its owner', () => {
  const someOwner = fc.constantFrom<LimitOwner>('organisation', 'api', 'operation', 'key', 'endpoint', 'client')
  fc.assert(
    fc.property(fc.array(someOwner, { maxLength: 8 }), (owners) => {
      const rates = namedRates(owners.map((owner, i) => makeLimit('rate', `k|${i}`, 1, 1000, owner)))
      assert.equal(new Set(rates.map(({ name }) => name)).size, owners.length)
      assert.deepEqual(
        rates.map(({ name }) => name.split('-')[0]),
        owners,
      )
    }),
  )
})

/** The oracle: the reported limits after so many calls, the last one `refused` or not, by the rules of docs/reference/operations.md. */
function expectedOf(present: readonly Named[], tightest: Named, used: number, refused: boolean) {
  const named = LIMITS.map(([owner, kind], i) => ({ owner, kind, name: NAMES[i]! })).filter(({ name }) =>
    present.includes(name),
  )
  const told = (kind: 'rate' | 'quota') => {
    const all = named.filter((limit) => limit.kind === kind)
    const own = all.filter(({ owner }) => owner === 'key' || owner === 'endpoint')
    const exceeded = refused ? all.filter(({ name }) => name === tightest) : []
    const among = [exceeded, own, all].find((some) => some.length > 0)
    const nearest = among?.toSorted((a, b) => sizeOf(a.name, tightest) - sizeOf(b.name, tightest))[0]
    if (nearest === undefined) return undefined
    return { max: sizeOf(nearest.name, tightest), left: sizeOf(nearest.name, tightest) - used }
  }
  const quota = told('quota')
  const rate = told('rate')
  const rates = named
    .filter(({ kind }) => kind === 'rate')
    .map(({ owner, name }) => ({ name: owner, max: sizeOf(name, tightest), left: sizeOf(name, tightest) - used }))
  return {
    rates,
    body: {
      quota: { max: quota?.max ?? -1, left: quota?.left ?? -1 },
      rate: rate === undefined ? { max: -1, perS: 0 } : { max: rate.max, perS: RATE_PER_S },
      rates,
    },
    fields: {
      policy: rates.map(({ name, max }) => `"${name}";q=${max};w=${RATE_PER_S}`).join(', '),
      left: rates.map(({ name, left }) => `"${name}";r=${left}`).join(', '),
      quota: quota === undefined ? '' : `${quota.left} of ${quota.max}`,
    },
  }
}

function bodyOf({ json }: Answer) {
  const { quota, rate_limit, rates } = json as unknown as Told
  return {
    quota: { max: quota.quota_max, left: quota.quota_remaining },
    rate: { max: rate_limit.requests, perS: rate_limit.per_unit },
    rates: rates.map(({ name, requests, remaining }) => ({ name, max: requests, left: remaining })),
  }
}

interface Told {
  quota: { quota_max: number; quota_remaining: number }
  rate_limit: { requests: number; per_unit: number }
  rates: { name: string; requests: number; remaining: number }[]
}

function fieldsOf({ headers }: Answer) {
  const { 'x-ratelimit-limit': max, 'x-ratelimit-remaining': left } = headers
  return {
    policy: String(headers['ratelimit-policy'] ?? ''),
    left: String(headers.ratelimit ?? '').replaceAll(/;t=\d+/g, ''),
    quota: max === undefined ? '' : `${left} of ${max}`,
  }
}

function namesIn({ headers }: Answer): string[] {
  const policy = String(headers['ratelimit-policy'] ?? '')
  return [...policy.matchAll(/"([^"]+)"/g)].map(([, name]) => name!)
}

async function limitOrganisation(gateway: TestGateway, rate: number, quota: number): Promise<void> {
  const limits = { rate, per: RATE_PER_S, quota_max: quota, quota_renewal_rate: QUOTA_PER_S }
  const made = await gateway.svc('POST', `/svc/org/keys/${ORG}?reset_quota=1`, limits)
  assert.equal(made.status, 200, made.text)
}

async function defineApi(gateway: TestGateway, url: string, rate: number, operation: number): Promise<void> {
  const told = Object.fromEntries(
    Object.values(REFUSALS).map(([, event]) => [event, [{ handler_name: 'eh_log_handler', handler_meta: {} }]]),
  )
  const limited = { path: '/x', method: 'GET', enabled: true, rate: operation, per: RATE_PER_S }
  const version = {
    name: 'Default',
    use_extended_paths: true,
    extended_paths: operation === 0 ? {} : { rate_limit: [limited] },
  }
  const definition = classic('k', '/k/', url, {
    org_id: ORG,
    use_keyless: false,
    auth: { auth_header_name: 'X-Key' },
    event_handlers: { events: told },
    ...(rate > 0 && { global_rate_limit: { rate, per: RATE_PER_S } }),
    version_data: { not_versioned: true, versions: { Default: version } },
  })
  const made = await gateway.svc('POST', '/svc/apis', definition)
  if (made.status === 200) return
  const changed = await gateway.svc('PUT', '/svc/apis/k', definition)
  assert.equal(changed.status, 200, changed.text)
}

async function makeKey(gateway: TestGateway, rates: { key: number; endpoint: number }, quota: number): Promise<string> {
  const limit = { rate: rates.endpoint, per: RATE_PER_S }
  const right = {
    ...(rights('k').k as JsonObject),
    ...(rates.endpoint > 0 && { endpoints: [{ path: '/.*', methods: [{ name: 'GET', limit }] }] }),
  }
  const session = {
    org_id: ORG,
    access_rights: { k: right },
    ...(rates.key > 0 && { rate: rates.key, per: RATE_PER_S }),
    ...(quota > 0 && { quota_max: quota, quota_renewal_rate: QUOTA_PER_S }),
  }
  const made = await gateway.svc('POST', '/svc/keys', session)
  assert.equal(made.status, 200, made.text)
  return (made.json as { key: string }).key
}
