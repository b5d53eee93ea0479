import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { readKeyRequest } from '../../../../src/model/portal/key-requests/key-request.ts'
import { approveRequest } from '../../../../src/publish/portal/key-requests/requests.ts'
import { gatewayWorld } from '../../../worlds/dashboard/gateway-world.ts'
import { refusal } from '../../../worlds/dashboard/key-world.ts'
import {
  APPROVE,
  hashOf,
  PROCESSED,
  REQUESTS,
  requestCalls,
  requestWorld,
} from '../../../worlds/portal/portal-requests-world.ts'

test('without approval a request makes a key that opens the API at once', async (t) => {
  const world = await gatewayWorld(t)
  const { developer, request, read, subscriptions } = requestCalls(world)
  await world.api('one', { definition: { proxy: { listen_path: '/one/', target_url: world.origin.url } } })
  await world.policy('gold', ['one'])
  const dev = await developer('dev@example.test')
  const made = await request({ by_user: dev, apply_policies: ['gold'], approved: true, version: 'v2' })
  const { RawKey } = made.Meta as JsonObject
  assert.deepEqual(Object.keys(made), ['Status', 'Message', 'Meta'])
  const answer = await world.gateway.call('/one/', { headers: { authorization: String(RawKey) } })
  assert.equal(answer.status, 200)
  assert.equal((await read(String(made.Message))).approved, true)
  assert.deepEqual(await subscriptions(dev), { gold: hashOf(RawKey) })
})

test('an automatic approval returns the same key once more within ten minutes', async (t) => {
  const { request, asked, root, dev, clock, refused, store, developer } = await requestWorld(t)
  const made = await request({ by_user: dev, for_plan: 'gold' })
  const { RawKey } = made.Meta as JsonObject
  assert.deepEqual(await asked(200, 'PUT', `${APPROVE}/${made.Message}`, root), { RawKey, Password: '' })
  assert.equal(await refused(400, 'PUT', `${APPROVE}/${made.Message}`), PROCESSED)
  // the raw key is nowhere in the store, before it is fetched neither
  const other = await developer('other@example.test')
  const late = await request({ by_user: other, for_plan: 'gold' })
  const { rows } = await store.audit.list({ limit: 100 })
  assert.ok(!JSON.stringify(rows).includes(String((late.Meta as JsonObject).RawKey)))
  clock.advance(600_000)
  assert.equal(await refused(400, 'PUT', `${APPROVE}/${late.Message}`), PROCESSED)
})

test('of portals that fetch the key at once one gets it', async (t) => {
  const { request, call, root, dev } = await requestWorld(t)
  const made = await request({ by_user: dev, for_plan: 'gold' })
  const all = await Promise.all(
    Array.from({ length: 5 }, () => call('PUT', `${APPROVE}/${made.Message}`, { as: root })),
  )
  assert.equal(all.filter(({ status }) => status === 200).length, 1)
  assert.equal(all.filter((answer) => answer.text.includes(PROCESSED)).length, 4)
})

test('with approval a request waits, whatever it says itself; approving makes the key, once', async (t) => {
  const { request, read, asked, root, dev, configure, refused, subscriptions, call } = await requestWorld(t)
  await configure({ require_key_approval: true })
  const made = await request({ by_user: dev, apply_policies: ['gold'], approved: true, fields: { usecase: 'trial' } })
  assert.equal(made.Meta, null)
  const id = String(made.Message)
  const waiting = await read(id)
  assert.deepEqual(
    [waiting.approved, waiting.by_user, waiting.for_plan, waiting.version, waiting.fields],
    [false, dev, 'gold', 'v2', { usecase: 'trial' }],
  )
  assert.deepEqual(await subscriptions(dev), {})
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => call('PUT', `/portal/requests/approve/${id}`, { as: root })),
  )
  const won = answers.filter(({ status }) => status === 200)
  assert.equal(won.length, 1, answers.map(({ text }) => text).join('\n'))
  assert.ok(answers.every(({ status, text }) => status === 200 || text.includes(PROCESSED)))
  const key = won[0]!.json as JsonObject
  assert.deepEqual(Object.keys(key), ['RawKey', 'Password'])
  assert.deepEqual(await subscriptions(dev), { gold: hashOf(key.RawKey) })
  assert.equal(await refused(400, 'PUT', `${APPROVE}/${id}`), PROCESSED)
  await asked(200, 'DELETE', `${REQUESTS}/${id}/`, root)
  assert.deepEqual(await subscriptions(dev), { gold: hashOf(key.RawKey) })
})

test('a request that waits is answered in the place of a second one for the same policies', async (t) => {
  const { request, dev, configure, policy, asked, root, call } = await requestWorld(t)
  await configure({ require_key_approval: true })
  await policy('silver', ['one'])
  const all = await Promise.all(
    Array.from({ length: 5 }, () => call('POST', REQUESTS, { as: root, body: { by_user: dev, for_plan: 'gold' } })),
  )
  const ids = new Set(all.map(({ json }) => (json as JsonObject).Message))
  assert.equal(ids.size, 1, all.map(({ text }) => text).join('\n'))
  const other = await request({ by_user: dev, for_plan: 'silver' })
  assert.ok(!ids.has(other.Message))
  const { Data } = await asked(200, 'GET', `${REQUESTS}?p=-1`, root)
  assert.equal((Data as JsonObject[]).length, 2)
})

test('a request for what an expired key gave is taken, and approved once approval is off', async (t) => {
  const world = await requestWorld(t)
  await world.policy('trial', ['one'], { key_expires_in: 10 })
  const asking = { by_user: world.dev, for_plan: 'trial' }
  const first = await world.request(asking)
  await world.refused(400, 'POST', REQUESTS, asking)
  world.clock.advance(11_000)
  await world.configure({ require_key_approval: true })
  const waiting = await world.request(asking)
  assert.deepEqual(await world.subscriptions(world.dev), { trial: hashOf((first.Meta as JsonObject).RawKey) })
  await world.configure({ require_key_approval: false })
  const { RawKey } = await world.asked(200, 'PUT', `${APPROVE}/${waiting.Message}`, world.root)
  assert.deepEqual(await world.subscriptions(world.dev), { trial: hashOf(RawKey) })
})

test('requests are listed by page, newest first, by state and by developer', async (t) => {
  const world = await requestWorld(t, { env: { SVC_DB_PAGESIZE: '2' } })
  const { request, configure, asked, root, clock, policy, developer, catalogue, dev } = world
  await policy('silver', ['one'])
  await catalogue({ name: 'Silver', policy_id: 'silver' }, { name: 'Gold', policy_id: 'gold' })
  const made = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  await configure({ require_key_approval: true })
  const ids = [made]
  for (const email of ['a@example.test', 'b@example.test']) {
    clock.advance(1000)
    ids.push(String((await request({ by_user: await developer(email), for_plan: 'silver' })).Message))
  }
  const list = async (query: string) => {
    const { Data, Pages } = await asked(200, 'GET', `${REQUESTS}/${query}`, root)
    return [(Data as JsonObject[]).map(({ id }) => id), Pages]
  }
  const [first, second, third] = ids
  assert.deepEqual(await list(''), [[third, second], 2])
  assert.deepEqual(await list('?p=2'), [[first], 2])
  assert.deepEqual(await list('?p=-1'), [[third, second, first], 0])
  assert.deepEqual(await list('?p=0&approved=true'), [[first], 0])
  assert.deepEqual(await list('?approved=false'), [[third, second], 1])
  assert.deepEqual(await list(`?by_user=${dev}`), [[first], 1])
  assert.deepEqual(await list(`?by_user=${encodeURIComponent("' OR 1=1 --")}`), [[], 1])
  const one = await world.read(second!)
  assert.equal((one.portal_developer as JsonObject).email, 'a@example.test')
  assert.ok(!('password' in (one.portal_developer as JsonObject)))
  assert.equal((one.catalogue_entry as JsonObject).name, 'Silver')
  assert.deepEqual(
    (one.catalogues as JsonObject[]).map(({ name }) => name),
    ['Silver'],
  )
  assert.deepEqual((await asked(200, 'GET', `${REQUESTS}/${first}`, root)).id, first)
})

test('a request that waits can be changed; who asked, and whether it is approved, cannot', async (t) => {
  const { request, read, dev, configure, policy, asked, root, refused, developer } = await requestWorld(t)
  await configure({ require_key_approval: true })
  await policy('silver', ['one'])
  const id = String((await request({ by_user: dev, for_plan: 'gold', own: 1 })).Message)
  const path = `${REQUESTS}/${id}`
  await asked(200, 'PUT', path, root, { fields: { a: 'b' }, approved: true, org_id: 'x', collected: false })
  const changed = await read(id)
  assert.deepEqual(
    [changed.fields, changed.approved, changed.apply_policies, changed.own],
    [{ a: 'b' }, false, ['gold'], 1],
  )
  assert.equal(changed.collected, undefined)
  const answer = await asked(200, 'PUT', `${path}/`, root, { ...changed, apply_policies: ['silver'] })
  assert.deepEqual(answer, { Status: 'OK', Message: 'Data updated', Meta: null })
  assert.deepEqual((await read(id)).apply_policies, ['silver'])
  const other = await developer('other@example.test')
  assert.match(await refused(400, 'PUT', path, { by_user: other }), /by_user/)
  assert.match(await refused(400, 'PUT', path, { apply_policies: ['nobody'] }), /nobody/)
  const second = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  assert.match(await refused(400, 'PUT', `${REQUESTS}/${second}`, { for_plan: 'silver' }), /waits already/)
  await asked(200, 'PUT', `${APPROVE}/${id}`, root)
  await asked(200, 'PUT', path, root, { fields: {} })
  assert.equal(await refused(400, 'PUT', path, { apply_policies: ['gold'] }), PROCESSED)
})

test('what is gone cannot be approved: a declined request, a deleted policy, a deleted developer', async (t) => {
  const { request, dev, configure, policy, asked, root, refused, developer } = await requestWorld(t)
  await configure({ require_key_approval: true })
  await policy('silver', ['one'])
  const declined = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  assert.equal((await asked(200, 'DELETE', `${REQUESTS}/${declined}`, root)).Message, 'Data deleted')
  await refused(404, 'PUT', `${APPROVE}/${declined}`)
  await refused(404, 'GET', `${REQUESTS}/${declined}`)
  await refused(404, 'DELETE', `${REQUESTS}/${declined}`)
  const orphan = String((await request({ by_user: dev, for_plan: 'silver' })).Message)
  await asked(200, 'DELETE', '/api/portal/policies/silver', root)
  assert.match(await refused(400, 'PUT', `${APPROVE}/${orphan}`), /silver/)
  const other = await developer('other@example.test')
  const left = String((await request({ by_user: other, for_plan: 'gold' })).Message)
  await asked(200, 'DELETE', `/api/portal/developers/${other}`, root)
  await refused(404, 'PUT', `${APPROVE}/${left}`)
})

test('what no key can be made of is refused by name, and nothing is stored', async (t) => {
  const { refused, dev, api, policy, organisation, admin, call } = await requestWorld(t)
  await api('open', { definition: { use_keyless: true } })
  await policy('free', ['open'])
  await policy('jwt', ['one'], { auth_type: 'jwt' })
  await policy('sleeping', ['one'], { state: 'deny' })
  const good = { by_user: dev, for_plan: 'gold' }
  const cases: [JsonObject, RegExp][] = [
    [{ by_user: dev }, /apply_policies/],
    [{ by_user: dev, apply_policies: ['gold', 7] }, /apply_policies/],
    [{ by_user: dev, apply_policies: 'gold' }, /apply_policies/],
    [{ by_user: dev, apply_policies: Array(51).fill('gold') }, /apply_policies/],
    [{ by_user: dev, for_plan: 'nobody' }, /nobody/],
    [{ by_user: dev, for_plan: "gold' OR '1'='1" }, /no policy/],
    [{ by_user: dev, apply_policies: ['gold', 'nobody'] }, /nobody/],
    [{ by_user: dev, for_plan: 'free' }, /^Key requests are not possible for keyless APIs\.$/],
    [{ by_user: dev, for_plan: 'jwt' }, /jwt/],
    [{ by_user: dev, for_plan: 'sleeping' }, /sleeping/],
    [{ ...good, jwt_secret: 'pem' }, /JWT/],
    [{ ...good, certificate: '-----BEGIN CERTIFICATE-----\nx' }, /certificate/],
    [{ ...good, by_user: 'ffffffffffffffffffffffff' }, /by_user/],
    [{ ...good, by_user: "' OR 1=1 --" }, /by_user/],
    [{ for_plan: 'gold' }, /by_user/],
    [{ ...good, fields: { a: 1 } }, /fields/],
    [{ ...good, fields: { a: 'x'.repeat(4097) } }, /fields/],
    [{ ...good, date_created: 'yesterday' }, /date_created/],
    [{ ...good, apply_policies: ['gold', 'jwt'] }, /enable_multi_selection|jwt/],
  ]
  for (const [body, named] of cases) assert.match(await refused(400, 'POST', REQUESTS, body), named)
  await refused(403, 'POST', REQUESTS, '{')
  await refused(400, 'POST', REQUESTS, [])
  // of another organisation: its developers and requests are as not there
  const stranger = await admin(await organisation())
  await refused(400, 'POST', REQUESTS, good, stranger)
  const made = (await call('POST', REQUESTS, { as: stranger, body: good })).json as JsonObject
  assert.match(String(made.Message), /by_user/)
  for (const id of ['nonsense', "x' OR '1'='1", 'ffffffffffffffffffffffff', '__proto__']) {
    const path = encodeURIComponent(id)
    await refused(404, 'GET', `${REQUESTS}/${path}`)
    await refused(404, 'PUT', `${REQUESTS}/${path}`, {})
    await refused(404, 'PUT', `${APPROVE}/${path}`)
    await refused(404, 'DELETE', `${REQUESTS}/${path}`)
  }
})

test('somebody else’s request is as one that is not there', async (t) => {
  const { request, dev, configure, organisation, admin, refused } = await requestWorld(t)
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  const stranger = await admin(await organisation())
  await refused(404, 'GET', `${REQUESTS}/${id}`, undefined, stranger)
  await refused(404, 'PUT', `${REQUESTS}/${id}`, {}, stranger)
  await refused(404, 'PUT', `${APPROVE}/${id}`, undefined, stranger)
  await refused(404, 'DELETE', `${REQUESTS}/${id}`, undefined, stranger)
})

test('several policies of one sort give one key where the portal offers that', async (t) => {
  const { request, dev, configure, policy, subscriptions, refused, asked, root } = await requestWorld(t)
  await policy('silver', ['one'])
  const body = { by_user: dev, apply_policies: ['gold', 'silver', 'gold'] }
  assert.match(await refused(400, 'POST', REQUESTS, body), /enable_multi_selection/)
  await configure({ enable_multi_selection: true })
  const { RawKey } = (await request(body)).Meta as JsonObject
  assert.deepEqual(await subscriptions(dev), { gold: hashOf(RawKey), silver: hashOf(RawKey) })
  const again = await refused(400, 'POST', REQUESTS, { by_user: dev, apply_policies: ['silver'] })
  assert.match(again, /silver/)
  assert.equal(((await asked(200, 'GET', `${REQUESTS}?p=-1`, root)).Data as JsonObject[]).length, 1)
})

test('an entry of the catalogue can ask for approval, or send developers elsewhere, by itself', async (t) => {
  const { request, read, dev, configure, policy, catalogue, asked, root, developer } = await requestWorld(t)
  const goldId = (await asked(200, 'GET', '/api/portal/policies/gold', root))._id
  await policy('paid', ['one'])
  await policy('plain', ['one'])
  await configure({ require_key_approval: true })
  const away = { override: true, redirect_on_key_request: true, redirect_to: 'https://pay.test/buy?shop=1' }
  await catalogue(
    // by the storage id: entries are found by either
    { name: 'Gold', policy_id: goldId!, config: { override: true, require_key_approval: false } },
    { name: 'Paid', policy_id: 'paid', config: away },
    { name: 'Plain', policy_id: 'plain', config: { require_key_approval: false } },
  )
  const free = await request({ by_user: dev, for_plan: 'gold' })
  assert.ok((free.Meta as JsonObject).RawKey)
  // without `override` the word of the portal holds
  assert.equal((await request({ by_user: dev, for_plan: 'plain' })).Meta, null)
  const paid = await request({ by_user: dev, for_plan: 'paid' })
  const url = new URL(String((paid.Meta as JsonObject).redirect_to))
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    ...{ shop: '1', key_request_id: String(paid.Message), user_id: dev, policy_id: 'paid' },
  })
  assert.equal((await read(String(paid.Message))).approved, false)
  assert.deepEqual(await request({ by_user: dev, for_plan: 'paid' }), paid, 'the one that waits, with its own id')
  // the third party, once it is paid
  assert.ok((await asked(200, 'PUT', `${APPROVE}/${paid.Message}`, root)).RawKey)
  const other = await developer('other@example.test')
  await configure({ redirect_on_key_request: true, redirect_to: 'https://all.test/', require_key_approval: false })
  const all = await request({ by_user: other, for_plan: 'plain' })
  assert.match(String((all.Meta as JsonObject).redirect_to), /^https:\/\/all\.test\/\?key_request_id=/)
})

test('an OAuth policy gives a client, up to the limit of the portal', async (t) => {
  const world = await gatewayWorld(t)
  const { developer, request, configure, refused } = requestCalls(world)
  await world.oauth({ id: 'two' })
  await world.policy('oauth', ['two'])
  const dev = await developer('dev@example.test')
  const body = {
    by_user: dev,
    for_plan: 'oauth',
    fields: { oauth_app_description: 'An app', oauth_use_case: 'Testing' },
    oauth_info: { redirect_uri: 'https://app.test/cb' },
  }
  assert.match(await refused(400, 'POST', REQUESTS, { ...body, oauth_info: {} }), /redirect_uri/)
  assert.match(
    await refused(400, 'POST', REQUESTS, { ...body, oauth_info: { redirect_uri: 'javascript:x' } }),
    /redirect_uri/,
  )
  const made = await request(body)
  const { client_id, secret, policy_id, redirect_uri } = made.Meta as JsonObject
  assert.deepEqual([policy_id, redirect_uri], ['oauth', 'https://app.test/cb'])
  const token = await world.token('two', String(client_id), String(secret))
  assert.equal(await world.use('/two/', token), 200)
  const seen = await world.asked(200, 'GET', `/api/portal/developers/${dev}`, world.root)
  const [app] = (seen.oauth_clients as JsonObject).oauth as JsonObject[]
  assert.deepEqual([app!.client_id, app!.app_description, app!.use_case], [client_id, 'An app', 'Testing'])
  await configure({ oauth_usage_limit: 1, require_key_approval: true })
  assert.match(await refused(400, 'POST', REQUESTS, body), /oauth_usage_limit/)
})

test('with ownership on, requests for foreign policies are not listed, read or approved', async (t) => {
  const world = await requestWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const { request, user, api, policy, configure, asked, dev, call, refused, developer } = world
  const ada = await user({ portal: 'write' })
  const ben = await user({ portal: 'write' })
  await api('of-ada', { users: [ada.id] })
  await policy('ada', ['of-ada'])
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'ada' })).Message)
  const rows = async (as: typeof ada) => (await asked(200, 'GET', `${REQUESTS}?p=-1`, as)).Data as JsonObject[]
  assert.equal((await rows(ada)).length, 1)
  assert.deepEqual(await rows(ben), [])
  for (const [method, path] of [
    ['GET', `${REQUESTS}/${id}`],
    ['PUT', `${REQUESTS}/${id}`],
    ['PUT', `${APPROVE}/${id}`],
    ['DELETE', `${REQUESTS}/${id}`],
  ] as const)
    assert.deepEqual(refusal(await call(method, path, { as: ben, body: {} })), [401, 'Not authorised'])
  const other = await developer('other@example.test')
  await refused(401, 'POST', REQUESTS, { by_user: other, for_plan: 'ada' }, ben)
  await asked(200, 'POST', REQUESTS, ada, { by_user: other, for_plan: 'ada' })
  await asked(200, 'PUT', `${APPROVE}/${id}`, ada)
})

test('of an approval and the deletion of the developer at one moment nothing is left behind', async (t) => {
  const world = await requestWorld(t)
  const { developer, request, configure, call, root, store } = world
  await configure({ require_key_approval: true })
  for (let round = 0; round < 8; round++) {
    const dev = await developer(`race${round}@example.test`)
    const { Message: id } = await request({ by_user: dev, for_plan: 'gold' })
    const answers = await Promise.all([
      call('PUT', `${APPROVE}/${id}`, { as: root }),
      call('DELETE', `/api/portal/developers/${dev}`, { as: root }),
      call('POST', REQUESTS, { as: root, body: { by_user: dev, for_plan: 'gold' } }),
    ])
    assert.equal(answers[1]!.status, 200, answers[1]!.text)
    const requests = await store.documents.list('key_request', { where: { by_user: dev }, limit: 10 })
    assert.deepEqual(requests.rows, [])
    const { rows } = await store.tokens.listSessions({ limit: 1000 })
    assert.deepEqual(
      rows.filter(({ body }) => body.developer_id === dev),
      [],
    )
  }
})

test('a request that was stored with a date of another form is taken where it is sent back', async (t) => {
  const { request, read, asked, root, configure, dev, call, store } = await requestWorld(t)
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  const { body } = (await store.documents.get('key_request', id as DocumentId))!
  for (const [date_created, moment] of [
    ['2024-01-02 03:04:05', '2024-01-02T03:04:05Z'],
    ['2024-01-02T03:04:05', '2024-01-02T03:04:05Z'],
    ['2024-01-02, in the evening', '2024-01-02T00:00:00Z'],
    ['', '0001-01-01T00:00:00Z'],
  ]) {
    const before = { ...body, date_created: date_created! }
    await store.documents.commit([{ op: 'put', kind: 'key_request', id: id as DocumentId, body: before }], undefined)
    const shown = await read(id)
    assert.equal(shown.date_created, moment)
    await asked(200, 'PUT', `${REQUESTS}/${id}`, root, shown)
    // As reads showed it before.
    assert.doesNotThrow(() => readKeyRequest({ ...shown, ...before }, before))
    assert.equal((await read(id)).date_created, moment)
    const other = { ...shown, date_created: '2024-01-02 03:04:06' }
    assert.equal((await call('PUT', `${REQUESTS}/${id}`, { as: root, body: other })).status, 400)
  }
})

test('of concurrent approvals of one request one wins and the others get a conflict', async (t) => {
  const { request, configure, dev, parts, orgId, subscriptions, store } = await requestWorld(t)
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message) as DocumentId
  const asking = { orgId, actor: 'test', checkPolicy: () => {}, checkLink: async () => {} }
  const all = await Promise.allSettled(Array.from({ length: 6 }, () => approveRequest(parts, asking, id)))
  const won = all.filter((each) => each.status === 'fulfilled')
  assert.equal(won.length, 1)
  for (const each of all) if (each.status === 'rejected') assert.equal(each.reason.code, 'request_processed')
  assert.deepEqual(await subscriptions(dev), { gold: hashOf(won[0]!.value.access!.RawKey) })
  assert.equal((await store.tokens.listSessions({ limit: 10 })).rows.length, 1)
})

test('a request that waits is approved by asking again, or by hand, once approval is automatic', async (t) => {
  const world = await requestWorld(t)
  const { request, configure, policy, root, dev, asked, read, subscriptions } = world
  await policy('silver', ['one'])
  await configure({ require_key_approval: true })
  const waiting = await request({ by_user: dev, for_plan: 'gold', fields: { usecase: 'first' } })
  const other = await request({ by_user: dev, for_plan: 'silver' })
  await configure({ require_key_approval: false })
  const again = await request({ by_user: dev, for_plan: 'gold', fields: { usecase: 'second' } })
  assert.equal(again.Message, waiting.Message)
  const now = await read(String(waiting.Message))
  assert.deepEqual([now.approved, (now.fields as JsonObject).usecase], [true, 'second'])
  assert.equal(now.date_created, (await read(String(again.Message))).date_created)
  const { RawKey } = await asked(200, 'PUT', `${APPROVE}/${other.Message}`, root)
  assert.deepEqual(await subscriptions(dev), {
    gold: hashOf((again.Meta as JsonObject).RawKey),
    silver: hashOf(RawKey),
  })
  const { Data } = await asked(200, 'GET', `${REQUESTS}?p=-1&approved=false`, root)
  assert.deepEqual(Data, [])
})
