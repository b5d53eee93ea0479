import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readScope, scopeLeft } from '../../../src/oauth/tokens/scopes.ts'
import { faultOf } from '../../worlds/oauth/front-fixtures.ts'

const rules = { scopes: new Set(['read', 'write', 'a:b/c']) }

test('a scope is answered as it was asked for, without repetitions; none is none', () => {
  assert.equal(readScope('write read', {}, rules), 'write read')
  assert.equal(readScope('read read a:b/c read', {}, rules), 'read a:b/c')
  assert.equal(readScope(undefined, {}, rules), '')
  assert.equal(readScope('', { scope: 'read' }, rules), '')
})

test('a client that is registered with scopes gets no other', () => {
  assert.equal(readScope('read', { scope: 'read write' }, rules), 'read')
  assert.throws(() => readScope('read a:b/c', { scope: 'read write' }, rules), faultOf('oauth_invalid_scope'))
  assert.throws(() => readScope('read', { scope: '' }, rules), faultOf('oauth_invalid_scope'))
})

for (const asked of [
  'admin',
  'read admin',
  'Read',
  ' read',
  'read ',
  'read  write',
  'read\twrite',
  'read\nwrite',
  're"ad',
  're\\ad',
  'réad',
  ' ',
  'constructor',
  '__proto__',
]) {
  test(`refused: ${JSON.stringify(asked)}`, () => {
    assert.throws(() => readScope(asked, {}, rules), faultOf('oauth_invalid_scope'))
  })
}

test('an API that declares no scopes takes any that is well formed', () => {
  const none = { scopes: new Set<string>() }
  assert.equal(readScope('openid profile openid', {}, none), 'openid profile')
  assert.equal(scopeLeft('openid profile', {}, none), 'openid profile')
  for (const asked of ['read  write', 're"ad', 'réad', ' '])
    assert.throws(() => readScope(asked, {}, none), faultOf('oauth_invalid_scope'))
  assert.throws(() => readScope('write', { scope: 'read' }, none), faultOf('oauth_invalid_scope'))
})
