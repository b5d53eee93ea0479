import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { LATEST_SECONDS, MOST_SECONDS } from '../../../src/model/time/calendar.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** The members of keys and policies that are a period or a time, with the greatest value that is taken. */
const OF_KEYS: Readonly<Record<string, number>> = {
  per: MOST_SECONDS,
  quota_renewal_rate: MOST_SECONDS,
  throttle_interval: MOST_SECONDS,
  session_lifetime: MOST_SECONDS,
  post_expiry_grace_period: MOST_SECONDS,
  expires: LATEST_SECONDS,
}
const OF_POLICIES = ['per', 'quota_renewal_rate', 'throttle_interval', 'key_expires_in', 'post_expiry_grace_period']
const BASE: JsonObject = { rate: 5, per: 60, quota_max: 5, quota_renewal_rate: 60, post_expiry_action: 'delete' }

test('periods and times of keys and policies have a bound, and work up to it', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const made = await gate.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  assert.equal(made.status, 200, made.text)
  const policy = (id: string, more: JsonObject) =>
    gate.svc('POST', '/svc/policies', { id, name: id, active: true, access_rights: rights('a'), ...BASE, ...more })
  const called = async (session: JsonObject) => {
    const key = await gate.svc('POST', '/svc/keys', session)
    assert.equal(key.status, 200, key.text)
    const { key: text } = key.json as { key: string }
    const answer = await gate.call('/a/', { headers: { authorization: text } })
    assert.equal(answer.status, 200, answer.text)
    const read = await gate.svc('GET', `/svc/keys/${text}`)
    const back = await gate.svc('PUT', `/svc/keys/${text}`, read.json)
    assert.equal(back.status, 200, back.text)
  }
  for (const [member, most] of Object.entries(OF_KEYS)) {
    for (const value of [most + 1, Number.MAX_SAFE_INTEGER]) {
      const refused = await gate.svc('POST', '/svc/keys', { access_rights: rights('a'), ...BASE, [member]: value })
      assert.equal(refused.status, 400, `${member} ${value}: ${refused.text}`)
      assert.match(refused.text, new RegExp(`${member}.*${most}`))
    }
    await called({ access_rights: rights('a'), ...BASE, [member]: most })
  }
  for (const member of OF_POLICIES) {
    for (const value of [MOST_SECONDS + 1, Number.MAX_SAFE_INTEGER]) {
      const refused = await policy(`p-${member}`, { [member]: value })
      assert.equal(refused.status, 400, `${member} ${value}: ${refused.text}`)
      assert.match(refused.text, new RegExp(`${member}.*${MOST_SECONDS}`))
    }
    const taken = await policy(`p-${member}`, { [member]: MOST_SECONDS })
    assert.equal(taken.status, 200, taken.text)
    await called({ apply_policies: [`p-${member}`] })
  }
})
