import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defined, rights } from '../worlds/base/definitions.ts'
import { type Environment, editFile, filesIn, folderFor, startEnvironment } from '../worlds/flows/moves-world.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const APIS = DEEP ? 1000 : 40

async function fillMany({ ask }: Environment): Promise<void> {
  for (let n = 0; n < APIS; n++) {
    await ask('POST', '/api/apis/oas', defined({ id: `api-${n}`, url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
    if (n % 5 === 0)
      await ask('POST', '/api/portal/policies', { id: `p-${n}`, name: `P ${n}`, access_rights: rights(`api-${n}`) })
  }
}

test(`${APIS} APIs with their policies: over, again with nothing to do, and back as they were`, async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await fillMany(a)
  const [first, second] = [folderFor(t), folderFor(t)]
  assert.equal((await a.run('dump', '-t', first)).status, 0)
  const began = performance.now()
  const done = await b.run('sync', '-p', first, '--yes')
  assert.equal(done.status, 0, done.err)
  const synced = performance.now()
  assert.match((await b.run('sync', '-p', first, '--yes')).out, /^Nothing to do: /)
  t.diagnostic(`sync ${Math.round(synced - began)} ms, with nothing to do ${Math.round(performance.now() - synced)} ms`)
  assert.equal((await b.run('dump', '-t', second)).status, 0)
  assert.deepEqual(filesIn(second), filesIn(first))
  editFile(second, 'apis/api-7.json', (body) => JSON.parse(JSON.stringify(body).replace('127.0.0.1:1', '127.0.0.1:2')))
  const diff = await b.run('diff', '-p', second)
  assert.deepEqual([diff.status, diff.out.split('\n').length], [2, 3], diff.out)
})
