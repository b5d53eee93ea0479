import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import { MASK, redact } from '../../../src/model/secrets/redact.ts'

test('keys of JSON Web Tokens in definitions are masked, addresses of key sets are not', () => {
  const url = 'https://idp.example/jwks'
  assert.deepEqual(redact({ jwt_source: 'c2VjcmV0', jwt_signing_method: 'hmac' }), {
    jwt_source: MASK,
    jwt_signing_method: 'hmac',
  })
  assert.deepEqual(redact({ jwt_source: url }), { jwt_source: url })
  const scheme = { enabled: true, signingMethod: 'hmac', source: 'c2VjcmV0' }
  assert.deepEqual(redact({ t: scheme }), { t: { ...scheme, source: MASK } })
  assert.deepEqual(redact({ t: { ...scheme, source: url } }), { t: { ...scheme, source: url } })
  assert.deepEqual(redact({ source: 'import' }), { source: 'import' })
})

test('levels of permissions are shown whatever the permission is called', () => {
  const names = [...PERMISSION_KEYS, 'IsAdmin', 'ResetPassword', 'token_admin', 'secret_level', 'api_key', 'code']
  for (const level of ['read', 'write', 'deny', 'admin', 'true', '']) {
    const rights = Object.fromEntries(names.map((name) => [name, level]))
    for (const holder of ['user_permissions', 'ceiling'])
      assert.deepEqual(redact({ a: { [holder]: rights }, keys: 'k' }), { a: { [holder]: rights }, keys: '***' })
  }
  assert.deepEqual(redact({ user_permissions: { keys: 'sk_live_1', apis: 'read' } }), {
    user_permissions: { keys: '***', apis: 'read' },
  })
})
