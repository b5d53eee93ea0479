import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileName } from '../../src/cli/moves/rendered.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { defined } from '../worlds/base/definitions.ts'
import { editFile, folderFor, keyPair, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'
import { install, someInstallation } from '../worlds/flows/random-installation.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 60 : 3
const KINDS = ['--apis', '--policies', '--clients', '--hooks', '--keys', '--portal']

test('a dump of any installation validates, and sync of it plans nothing', async (t) => {
  const { recipient, identity } = keyPair(t)
  let unhashed = false
  await fc.assert(
    fc.asyncProperty(someInstallation, async (made) => {
      unhashed = !unhashed
      const env: Record<string, string> = unhashed ? { SVC_GW_HASHKEYS: 'false' } : {}
      const world = await startEnvironment(t, { env, gatewayEnv: env })
      await install(world, made)
      for (const secrets of [[], ['--secrets', '--recipient', recipient]]) {
        const dir = folderFor(t)
        const dumped = await world.run('dump', '-t', dir, ...KINDS, ...secrets)
        assert.deepEqual([dumped.status, dumped.err], [0, ''], dumped.err)
        for (const opening of secrets.length === 0 ? [[]] : [[], ['--identity', identity]]) {
          const how = `${secrets[0] ?? ''} ${opening[0] ?? ''}`
          const valid = await runLine(['validate', '-p', dir, ...opening])
          assert.equal(valid.status, 0, `${how}: ${valid.out}${valid.err}`)
          const plan = await world.run('sync', '-p', dir, ...opening)
          assert.equal(plan.status, 0, `${how}: ${plan.out}${plan.err}`)
        }
      }
    }),
    // Each run starts an installation: to look for the smallest one would take minutes.
    { numRuns, endOnFailure: true },
  )
})

test('sealed entries of one name keep their own values, and none is guessed', async (t) => {
  const world = await startEnvironment(t)
  const { recipient } = keyPair(t)
  const named = (name: string, ...values: string[]) => values.map((value) => ({ name, value }))
  const add = [...named('Set-Cookie', 'a=1', 'b=2'), ...named('X-Other', 'x')]
  const global = { transformResponseHeaders: { enabled: true, add } }
  await world.ask('POST', '/api/apis/oas', defined({ id: 'cookies', url: 'https://up.example', global }))
  const dir = folderFor(t)
  assert.equal((await world.run('dump', '-t', dir, '--apis', '--secrets', '--recipient', recipient)).status, 0)
  const edit = (change: (list: JsonObject[]) => JsonObject[]) =>
    editFile(dir, 'apis/cookies.json', (body) => {
      const { middleware } = (body.oas as JsonObject)['x-svc-api-gateway'] as { middleware: { global: JsonObject } }
      const edits = middleware.global.transformResponseHeaders as { add: JsonObject[] }
      edits.add = change(edits.add)
    })
  const cookies = async () => {
    const answer = await world.ask('GET', '/api/apis/oas/cookies')
    const { middleware } = answer['x-svc-api-gateway'] as { middleware: { global: typeof global } }
    return middleware.global.transformResponseHeaders.add.map(({ name, value }) => `${name}: ${value}`)
  }

  edit((list) => [{ name: 'X-First', value: 'new' }, ...list])
  const done = await world.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
  assert.deepEqual(await cookies(), ['X-First: new', 'Set-Cookie: a=1', 'Set-Cookie: b=2', 'X-Other: x'])
  edit((list) => [...list, { name: 'Set-Cookie', value: 'c=3' }])
  assert.equal((await world.run('sync', '-p', dir, '--yes')).status, 0)
  assert.deepEqual(
    (await cookies()).filter((field) => field.startsWith('Set')),
    [...['Set-Cookie: a=1', 'Set-Cookie: b=2', 'Set-Cookie: c=3']],
  )
  edit((list) => list.filter(({ value }, at) => at !== 1 && value !== 'c=3'))
  const refused = await world.run('sync', '-p', dir, '--yes')
  assert.equal(refused.status, 1)
  assert.match(refused.err, /value: is kept out of the files, and the target has another number .* \(secret_missing\)/)
  // The console sends masks in the same way.
  const reader = await world.dashboard.user({ apis: 'read' })
  const shown = (await world.dashboard.call('GET', '/api/apis/oas/cookies', { as: reader })).json as JsonObject
  const extension = shown['x-svc-api-gateway'] as { middleware: { global: typeof global } }
  const seen = extension.middleware.global.transformResponseHeaders
  seen.add = [...named('X-Again', 'y'), ...seen.add]
  await world.ask('PUT', '/api/apis/oas/cookies', shown)
  assert.deepEqual(
    (await cookies()).filter((field) => field.startsWith('Set')),
    [...['Set-Cookie: a=1', 'Set-Cookie: b=2', 'Set-Cookie: c=3']],
  )
})

test('names of files are told apart on every file system, Windows included', () => {
  const word = fc.constantFrom('con', 'CON', 'nul', 'com1', 'LPT9', 'aux', 'a', 'A', '.', ' ', 'ü', '0a1b2c3d')
  const identity = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('')),
    fc.string({ minLength: 1 }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(identity, { minLength: 2, maxLength: 12 }), (identities) => {
      // A hashed name is nobody's identity.
      const all = [...new Set([...identities, ...identities.map(fileName)])]
      const files = all.map((each) => `${fileName(each)}.json`)
      for (const file of files) {
        assert.match(file, /^[a-z0-9._-]{1,120}$/)
        assert.doesNotMatch(file, /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)|\.\.json$|^\./)
      }
      assert.equal(new Set(files).size, all.length)
    }),
  )
})
