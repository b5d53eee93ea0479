import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { base64, claims, compact, hs, hsToken, jwtApi, jwtWorld, NOW_S } from '../../worlds/gateway/jwt-fixtures.ts'

const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

/** A gateway that has `j` in a format, and what saves it: its answer, with the members that its warnings name. */
async function saver(t: TestContext, format: 'classic' | 'oas') {
  const written = (definition: JsonObject) => (format === 'classic' ? definition : toOas(definition).document)
  const world = await jwtWorld(t, (origin) => written(jwtApi(origin)))
  return {
    ...world,
    async save(more: JsonObject) {
      const path = format === 'classic' ? '/svc/apis/j' : '/svc/apis/oas/j'
      const answer = await world.gate.svc('PUT', path, written(jwtApi(world.origin, more)))
      const warnings = ((answer.json as JsonObject).warnings ?? []) as { path: string; message: string }[]
      return { status: answer.status, text: answer.text, warned: warnings.map(({ path }) => path.split('.').at(-1)) }
    },
  }
}

for (const format of ['classic', 'oas'] as const) {
  const name = (classic: string, oas: string) => (format === 'classic' ? classic : oas)

  test(`${format}: a secret serves every HMAC; a short one is a choice of the API`, async (t) => {
    const { save, get } = await saver(t, format)
    for (const bytes of [1, 31, 32, 40, 64])
      for (const allow of [undefined, false, true]) {
        const secret = Buffer.alloc(bytes, `${bytes}`)
        const more = { jwt_source: base64(secret), ...(allow !== undefined && { jwt_allow_short_secrets: allow }) }
        const saved = await save(more)
        const isTaken = bytes >= 32 || allow === true
        assert.equal(saved.status, isTaken ? 200 : 400, saved.text)
        if (!isTaken) assert.match(saved.text, /at least 32 bytes; allowShortSecrets/)
        assert.deepEqual(saved.warned, isTaken && bytes < 64 ? [name('jwt_source', 'source')] : [], `${bytes}`)
        for (const [alg, hash] of isTaken ? Object.entries(HASHES) : []) {
          const token = compact({ alg }, claims({ sub: `${bytes} ${allow}` }), hs(secret, hash))
          assert.equal((await get(`Bearer ${token}`)).status, 200, `${alg} ${bytes}`)
          const other = compact({ alg }, claims(), hs(Buffer.alloc(bytes, 'x'), hash))
          assert.equal((await get(`Bearer ${other}`)).status, 401, `${alg} ${bytes}`)
        }
      }
  })

  test(`${format}: tokens without exp are a choice of the API; one that has it ends with it`, async (t) => {
    const { save, get, gate } = await saver(t, format)
    for (const endless of [undefined, false, true]) {
      const saved = await save({
        ...(endless !== undefined && { jwt_disable_expires_at_validation: endless }),
      })
      assert.equal(saved.status, 200, saved.text)
      const place = name('jwt_disable_expires_at_validation', 'disableExpiresAtValidation')
      assert.deepEqual(saved.warned, endless === true ? [place] : [])
      const status = async (exp: unknown) =>
        (await get(`Bearer ${hsToken({ sub: `ann ${endless}`, ...(exp !== undefined && { exp }) } as JsonObject)}`))
          .status
      assert.equal(await status(undefined), endless === true ? 200 : 401)
      assert.equal(await status(NOW_S + 60), 200)
      for (const exp of [NOW_S - 1, null, '', 'never', {}, -1]) assert.equal(await status(exp), 401, String(exp))
    }
    const token = `Bearer ${hsToken({ sub: 'bob' })}`
    assert.equal((await get(token)).status, 200)
    gate.clock.advance(1_000 * 86_400 * 365)
    assert.equal((await get(token)).status, 200)
  })
}

test('switches that change nothing, and identity without its claim, are reported', async (t) => {
  const { save, get } = await saver(t, 'classic')
  const idle = { jwt_disable_issued_at_validation: true, jwt_disable_not_before_validation: true }
  const saved = await save({ ...idle, jwt_identity_base_field: 'mail' })
  assert.deepEqual(saved.warned, [...Object.keys(idle), 'jwt_identity_base_field'])
  assert.equal((await get(`Bearer ${hsToken()}`)).status, 200)
  for (const claim of ['iat', 'nbf'])
    assert.equal((await get(`Bearer ${hsToken(claims({ [claim]: NOW_S + 60 }))}`)).status, 401, claim)
  assert.deepEqual((await save({ jwt_subject_claims: ['mail'] })).warned, ['jwt_subject_claims'])
  assert.deepEqual((await save({ jwt_subject_claims: ['mail', 'sub'] })).warned, [])
})
