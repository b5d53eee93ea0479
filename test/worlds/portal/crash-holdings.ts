// A dashboard in which developers come and go, get keys and apps and lose them, without end, and which says what it was answered:
// `crash-holdings.ts FOLDER SEAL-KEY ROUND`.

import { randomInt } from 'node:crypto'
import { writeSync } from 'node:fs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { startTestDashboard } from '../dashboard/harness.ts'
import { keyedApi, POLICIES, policyOf } from '../dashboard/key-world.ts'
import { oauthDefinition } from './developer-api.ts'
import { DEVELOPERS } from './developer-world.ts'
import { CATALOGUE, REQUESTS } from './portal-requests-world.ts'

const [path = '', seal = '', round = ''] = process.argv.slice(2)
const LANES = 4
// The same clock as the parent: else what it stores has expired long ago.
const clock = new FakeClock()
const store = await openStore({ path, clock })
const world = await startTestDashboard({ store, clock, parts: { sealKey: Buffer.from(seal, 'hex') } })
const root = await world.admin()
const say = (...words: string[]) => writeSync(1, `${words.join(' ')}\n`)

const [orders, shop] = [`orders${round}`, `shop${round}`]
for (const [id, more] of [
  [orders, {}],
  [shop, oauthDefinition()],
] as const)
  await publishApi(world.parts, {
    ...{ format: 'classic', definition: { ...keyedApi(id), ...more }, orgId: world.orgId, actor: 'test' },
  })

/** The answer when it is a success; what was refused, because others were quicker, is of no account. */
async function done(method: string, url: string, body?: unknown): Promise<JsonObject | undefined> {
  const answer = await world.call(method, url, { as: root, ...(body !== undefined && { body }) })
  return answer.status === 200 ? (answer.json as JsonObject) : undefined
}

async function policy(id: string): Promise<void> {
  const made = await done('POST', POLICIES, policyOf(id, [id.startsWith('o') ? shop : orders]))
  if (made !== undefined) say('policy', id)
}

const names = ['a', 'b', 'c', 'd', 'o1', 'o2']
for (const name of names) await policy(name)
// Requests for these wait for approval.
const waits = { override: true, require_key_approval: true }
const entry = (name: string) => ({ name, show: true, policy_id: name, version: 'v2', config: waits })
await done('POST', CATALOGUE, { org_id: world.orgId })
await done('PUT', CATALOGUE, { apis: ['d', 'o2'].map(entry) })
say('ready', world.orgId)
let made = 0
let asked = 0
await Promise.all([...Array.from({ length: LANES }, lane), policies()])

/** Developers one after the other, each with keys and apps that come and go. */
async function lane(): Promise<void> {
  for (;;) {
    const email = `d${round}-${made++}@example.test`
    const developer = String((await done('POST', DEVELOPERS, { email }))?.Message)
    const keys: string[] = []
    for (let i = randomInt(4, 12); i > 0; i--) await step(developer, keys)
    if (randomInt(2) === 0) continue
    say('leaving', developer)
    if ((await done('DELETE', `${DEVELOPERS}/${developer}`)) !== undefined) say('left', developer)
  }
}

async function step(developer: string, keys: string[]): Promise<void> {
  const at = `${DEVELOPERS}/${developer}/keys`
  const hash = keys.length > 0 ? keys[randomInt(keys.length)]! : undefined
  const what = randomInt(hash === undefined ? 2 : 5)
  const call = String(asked++)
  say('asking', call)
  if (what < 2 || hash === undefined) {
    const name = names[randomInt(names.length)]!
    const access = await added(at, developer, name)
    if (access === undefined) return
    const key = access.RawKey === undefined ? undefined : hashKey(String(access.RawKey)).toString('hex')
    if (key !== undefined) keys.push(key)
    say(key === undefined ? 'app' : 'key', key ?? String(access.client_id), developer, call, name)
    return
  }
  keys.splice(keys.indexOf(hash), 1)
  say('going', hash)
  if (what === 2) {
    if ((await done('DELETE', `${at}/${hash}`)) !== undefined) say('gone', hash)
    return
  }
  const entry = await done('GET', `${at}/${hash}`)
  const overlap = what === 3 ? 0 : 1000
  const turned = await done('POST', `${at}/${hash}/rotate`, { overlap_seconds: overlap })
  if (turned === undefined) return
  if (overlap === 0) say('gone', hash)
  keys.push(String(turned.key_id))
  say('key', String(turned.key_id), developer, call, ...((entry?.policies ?? []) as string[]))
}

/** By the call of keys, or by a request, which approves itself or waits until it is approved. */
async function added(at: string, developer: string, name: string): Promise<JsonObject | undefined> {
  const oauth_info = { redirect_uri: 'https://app.test/cb' }
  if (randomInt(2) === 0) return done('POST', at, { policy_id: name, oauth_info })
  const asked = await done('POST', REQUESTS, { by_user: developer, apply_policies: [name], oauth_info })
  if (asked === undefined || asked.Meta !== null) return asked?.Meta as JsonObject | undefined
  return done('PUT', `${REQUESTS}/approve/${asked.Message}`)
}

/** A policy goes now and then, and comes again: seldom enough that most keys are not taken along by one. */
async function policies(): Promise<void> {
  for (;;) {
    const name = names[randomInt(names.length)]!
    await new Promise((resolve) => setTimeout(resolve, randomInt(200)))
    say('dropping', name)
    if ((await done('DELETE', `${POLICIES}/${name}`)) !== undefined) say('dropped', name)
    await policy(name)
  }
}
