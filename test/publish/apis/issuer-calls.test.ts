import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuerCalls } from '../../../src/publish/apis/issuer-calls.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

test('key sets of clients that hang take a quarter of the room, and none of other organisations', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ target }, response) => {
    if (target === '/quick') response.end('{"keys":[]}')
  }
  const { clientKeys } = issuerCalls(true)
  const hanging = Array.from({ length: 40 }, () => clientKeys(`${origin.url}/hangs`, 'one').catch(String))
  await eventually('they are under way', () => origin.seen.length === 32)
  const refused = (await Promise.all(hanging.slice(32))) as string[]
  for (const reason of refused) assert.match(reason, /too many key sets of clients are being read/)
  assert.equal(Buffer.from(await clientKeys(`${origin.url}/quick`, 'other')).toString(), '{"keys":[]}')
  await origin.close()
  await Promise.all(hanging)
})
