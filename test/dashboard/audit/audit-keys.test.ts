import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { safePath, safeUrl } from '../../../src/dashboard/server/safe-url.ts'
import { newSecret } from '../../../src/model/secrets/secret.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const CHOSEN = 'key-of-a-customer'
const HASH = 'a'.repeat(64)

/** True for a place in which a caller may send any key; decided by names, not by what the route declares of it. */
function mayHoldChosenKey({ path }: Route, name: string): boolean {
  if (path.includes('/labels/')) return false
  return /key/i.test(name) || (/\/keys(?:\/|$)/.test(path) && (name === 'q' || name === 'ids'))
}

const placesOf = (route: Route) => [
  ...[...route.path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => ({ name: name!, isPath: true })),
  ...[...Object.keys(route.query ?? {}), 'undeclared'].map((name) => ({ name, isPath: false })),
]

function urlWith(route: Route, values: (name: string, isPath: boolean) => string): string {
  const path = route.path.replace(/\{([^}]*)\}/g, (_all, name: string) => values(name, true))
  const query = placesOf(route).filter(({ isPath }) => !isPath)
  return `${path}?${query.map(({ name }) => `${name}=${values(name, false)}`).join('&')}`
}

test('no entry of the audit log shows a key, wherever the call carries it', async (t) => {
  const dashboard = await startTestDashboard({ env: { SVC_DB_AUDIT_READS: 'true', SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(() => dashboard.close())
  const powerless = await dashboard.user({ IsAdmin: 'false' })
  const admin = await dashboard.admin()
  const generated = newSecret()
  let places = 0
  for (const route of dashboard.dashboard.routes) {
    if (route.path.endsWith('/live') || route.path.endsWith('/logout')) continue
    const everywhere = urlWith(route, () => generated)
    const chosen = urlWith(route, (name, isPath) => {
      if (!isPath && name === 'undeclared') return CHOSEN
      if (mayHoldChosenKey(route, name)) {
        places++
        return isPath ? CHOSEN.replace('k', '%6b') : CHOSEN
      }
      return isPath ? '1' : ''
    })
    for (const url of [everywhere, chosen]) {
      await dashboard.call(route.method, url, { as: powerless, ...(route.method !== 'GET' && { body: {} }) })
      if (route.method === 'GET') await dashboard.call('GET', url, { as: admin })
    }
  }
  const { rows } = await dashboard.store.audit.list({ orgId: dashboard.orgId, limit: 10_000 })
  const urls = rows.map(({ request }) => request?.url ?? '')
  assert.deepEqual(
    urls.filter((url) => url.includes(generated) || decodeURIComponent(url).includes(CHOSEN)),
    [],
  )
  assert.ok(urls.filter((url) => url.includes('***')).length > 300, `${urls.length} entries`)
  assert.ok(places > 40, `${places} places`)
})

test('records show what is no key: ids, choices, hashes', () => {
  const route = {
    path: '/api/things/{id}/keys/{keyId}',
    owned: { noun: 'key', by: 'keyId' },
    query: { p: { type: 'integer' }, sort: { enum: ['up', 'down'] }, api: { type: 'string' }, q: { type: 'string' } },
    keysIn: ['q'],
  } as const
  const shown = (keyId: string, query: string) =>
    safeUrl(route, `/api/things/orders/keys/${keyId}${query}`, { id: 'orders', keyId })
  assert.equal(shown(HASH, '?p=2&sort=up&api=orders'), `/api/things/orders/keys/${HASH}?p=2&sort=up&api=orders`)
  assert.equal(shown('mine', `?q=${HASH}&p=mine&sort=mine`), `/api/things/orders/keys/***?q=${HASH}&p=***&sort=***`)
  assert.equal(shown(HASH, '?q=mine&x=mine&y'), `/api/things/orders/keys/${HASH}?q=***&x=***&y=***`)
  assert.equal(safePath(undefined, `/x/${newSecret()}/y`, {}), '/x/***/y')
})

test('a generated key is masked whatever characters chance gave it', () => {
  const ofLetters = fc.string({ unit: fc.constantFrom(...'abcXYZ'), minLength: 43, maxLength: 43 })
  const key = fc
    .oneof(fc.constant(0).map(newSecret), ofLetters)
    .filter((text) => /[a-z]/.test(text) && /[A-Z]/.test(text))
  fc.assert(fc.property(key, (secret) => assert.equal(safePath(undefined, `/x/${secret}/y`, {}), '/x/***/y')))
})
