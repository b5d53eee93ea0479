import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlain } from '../../worlds/gateway/oauth-fixtures.ts'

const FREE = 100
const ENDPOINTS = ['token', 'par', 'introspect', 'revoke', 'revoke_all', 'device_authorization']
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const REQUEST = 'grant_type=client_credentials&token=x&response_type=code&redirect_uri=https://app.test/'

test('wrong secrets of a client are slowed down for each address, at all endpoints together', async (t) => {
  const { gateway, client } = await startPlain(t)
  await client('other', { api_id: 'a', policies: ['p'] })
  const ask = (endpoint: string, id: string, secret: string, inBody = false) => {
    const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
    const body = inBody ? `${REQUEST}&client_id=${id}&client_secret=${secret}` : REQUEST
    return gateway.call(`/a/oauth/${endpoint}`, { method: 'POST', headers: { ...form, ...(!inBody && basic) }, body })
  }
  for (const id of ['app', 'nobody']) {
    for (let guess = 0; guess < FREE; guess++) {
      const answer = await ask(ENDPOINTS[guess % ENDPOINTS.length]!, id, `guess-${guess}`, guess % 2 === 1)
      assert.notEqual(answer.status, 429, `${id}, guess ${guess}: ${answer.text}`)
    }
    await ask('token', id, 'one more')
    for (const endpoint of ENDPOINTS)
      for (const inBody of [true, false]) {
        const { status, headers, text } = await ask(endpoint, id, `secret-of-${id}`, inBody)
        assert.deepEqual([status, Number(headers['retry-after']) > 0], [429, true], `${id} at ${endpoint}: ${text}`)
      }
  }
  assert.equal((await ask('token', 'other', 'secret-of-other')).status, 200)
  for (let guess = 0; guess <= FREE; guess++) await ask('token', 'other', `guess-${guess}`)
  assert.equal((await ask('token', 'other', 'guess')).status, 429)
  assert.equal(
    (await ask('token', 'other', 'secret-of-other')).status,
    200,
    'the address has sent the right one before',
  )
})
