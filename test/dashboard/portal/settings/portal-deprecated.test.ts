import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { call } from '../../../worlds/base/client.ts'
import { refusal } from '../../../worlds/dashboard/key-world.ts'
import { Browser, person } from '../../../worlds/dashboard/sign-in-world.ts'
import { assertSound, DEVELOPERS, developerWorld, standing } from '../../../worlds/portal/developer-world.ts'

const DONE = (message: string) => `{"Status":"OK","Message":"${message}","Meta":null}`

test('a key is revoked, and its quota started anew, under its API or its policy, by either id', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  const gold = await world.policy('gold', ['orders'], { quota_max: 1, quota_renewal_rate: 3600 })
  const api = (await world.store.documents.find('api', 'api_id', 'orders'))!.id
  const ada = await world.developer('ada@example.test')
  const ben = await world.developer('ben@example.test')
  for (const [base, named] of [
    ['/api/portal', 'gold'],
    ['/portal', gold],
    ['/portal', 'orders'],
    ['/api/portal', api],
  ]) {
    const { key, hash } = await world.add(ada, ['gold'])
    const path = `${base}/developers/key/${named}/${hash}/${ada}`
    assert.deepEqual([await world.use('/orders/', key), await world.use('/orders/', key)], [200, 429])
    const reset = await world.call('POST', `${path}/reset_quota/`, { as: world.root })
    assert.equal(reset.text, DONE('Quota reset'))
    assert.equal(await world.use('/orders/', key), 200)
    for (const wrong of [
      `${base}/developers/key/other/${hash}/${ada}`,
      `${base}/developers/key/${named}/${hash}/${ben}`,
      `${base}/developers/key/${named}/${'f'.repeat(64)}/${ada}`,
    ])
      assert.deepEqual(refusal(await world.call('DELETE', wrong, { as: world.root })), [
        404,
        'Could not retrieve key detail.',
      ])
    assert.equal((await world.call('DELETE', path, { as: world.root })).text, DONE('Data deleted'))
    assert.equal(await world.use('/orders/', key), 403)
  }
  assert.deepEqual((await world.record(ada)).keys, {})
  await assertSound(world.store)
})

test('an app is deleted under its API or its policy', async (t) => {
  const world = await developerWorld(t)
  await world.oauth({ id: 'shop' })
  await world.policy('oa', ['shop'])
  const api = (await world.store.documents.find('api', 'api_id', 'shop'))!.id
  const ada = await world.developer('ada@example.test')
  const body = { policy_id: 'oa', oauth_info: { redirect_uri: 'https://app.test/cb' } }
  for (const named of ['shop', api, 'oa']) {
    const app = await world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys`, world.root, body)
    const wrong = await world.call('DELETE', `${DEVELOPERS}/oauth/other/${app.client_id}`, { as: world.root })
    assert.deepEqual(refusal(wrong), [404, 'Could not retrieve app detail'])
    const done = await world.call('DELETE', `/portal/developers/oauth/${named}/${app.client_id}`, { as: world.root })
    assert.equal(done.text, DONE('Data deleted'))
    assert.deepEqual((await world.record(ada)).oauth_clients, {})
  }
  await assertSound(world.store)
})

test('the change of a policy by GET names its replacement, unless the setting allows it', async (t) => {
  for (const allowed of [false, true]) {
    const world = await developerWorld(t, { SVC_PORTAL_ALLOWUNSAFEGET: String(allowed) })
    await world.keyed('orders')
    await world.policy('gold', ['orders'])
    await world.policy('silver', ['orders'])
    const ada = await world.developer('ada@example.test')
    const { hash } = await world.add(ada, ['gold'])
    const path = `/portal/developers/${ada}/${hash}/silver`
    const before = await standing(world.store)
    const head = await call(world.port, path, { method: 'HEAD', headers: { authorization: world.root.key } })
    assert.deepEqual([head.status, head.headers.allow], [405, 'GET'])
    assert.equal(await standing(world.store), before)
    const answer = await world.call('GET', path, { as: world.root })
    if (!allowed) {
      const replacement = `/api/portal/developers/${ada}/keys/${hash}`
      assert.deepEqual(refusal(answer), [405, `GET does not change a key: use PUT ${replacement} with apply_policies`])
      assert.equal(await standing(world.store), before)
      continue
    }
    assert.equal(answer.text, DONE('Data updated'))
    assert.deepEqual((await world.record(ada)).keys, { [hash]: ['silver'] })
    const reader = await world.user({ portal: 'read' })
    assert.equal((await world.call('GET', path, { as: reader })).status, 403)
    const gone = await world.call('GET', `/portal/developers/${ada}/${hash}/nothing`, { as: world.root })
    assert.equal(gone.status, 400)
    // A page of another site can have a browser send a GET with its cookie.
    const browser = new Browser(world)
    await browser.login((await person(world)).email)
    const byCookie = await browser.send('GET', `/portal/developers/${ada}/${hash}/gold`)
    assert.equal(byCookie.status, 405)
    assert.deepEqual(((await world.record(ada)).keys as JsonObject)[hash], ['silver'])
    await assertSound(world.store)
  }
})
