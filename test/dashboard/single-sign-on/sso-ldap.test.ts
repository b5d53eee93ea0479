import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls'
import { escapeFilterValue, escapeNameValue } from '../../../src/dashboard/single-sign-on/ldap.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { ADMIN, BASE, directory, type Person } from '../../worlds/dashboard/ldap-directory.ts'
import { Browser, locationOf, sessionIn, ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const PEOPLE: readonly Person[] = [
  { uid: 'ada', password: 'right', mail: 'ada@example.test', memberOf: ['CN=Ops,DC=example', 'CN=All,DC=example'] },
  { uid: 'bob', password: 'bobs' },
  { uid: 'o(dd)*', password: 'odd', mail: 'odd@example.test' },
]

function profileOf(port: number, config: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    ...{
      ID: 'ad',
      Name: 'Directory',
      ActionType: 'GenerateOrLoginUserProfile',
      ProviderName: 'ADProvider',
      Type: 'passthrough',
    },
    ProviderConfig: {
      LDAPServer: '127.0.0.1',
      LDAPPort: String(port),
      LDAPBaseDN: BASE,
      LDAPFilter: '((objectClass=person)(uid=*USERNAME*))',
      LDAPAdminUser: ADMIN.dn,
      LDAPAdminPassword: ADMIN.password,
      LDAPEmailAttribute: 'mail',
      LDAPFirstNameAttribute: 'givenname',
      ...config,
    },
    ...more,
  }
}

async function world(t: TestContext, config: JsonObject = {}, more: JsonObject = {}, env = {}) {
  const dashboard = await ssoWorld(t, env)
  const found = await directory(t, PEOPLE)
  await dashboard.profile(profileOf(found.port, config, more))
  const signIn = async (username: string, password: string, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ username, password }).toString()
    return dashboard.call('POST', '/auth/ad/ADProvider', { body, headers })
  }
  return { ...dashboard, ...found, signIn }
}

test('somebody of the directory signs in with the form', async (t) => {
  const dashboard = await world(t)
  const browser = new Browser()
  const form = await browser.visit(`${dashboard.base}/auth/ad/ADProvider`)
  assert.equal(form.status, 200)
  assert.match(form.text, /<form method="post" action="\/auth\/ad\/ADProvider">/)
  assert.equal(
    form.headers.get('referrer-policy'),
    'same-origin',
    'what browsers send by the form names where it comes from',
  )
  const end = await browser.visit(form.url, { username: 'ada', password: 'right' })
  assert.deepEqual([end.status, locationOf(end)], [303, '/'], whyRefused(dashboard))
  const session = await sessionIn(dashboard, browser)
  assert.deepEqual([session?.user.email_address, session?.user.first_name], ['ada@example.test', 'First ada'])
})

test('groups of the directory are mapped; who is in none is refused', async (t) => {
  const dashboard = await world(t)
  const ops = await dashboard.group({ hooks: 'write' })
  const { json } = await dashboard.call('GET', '/api/tib/profiles/ad', { as: dashboard.boss })
  const { Data: stored } = json as { Data: JsonObject }
  const next = { ...stored, CustomUserGroupField: 'memberOf', UserGroupMapping: { 'CN=Ops,DC=example': ops } }
  const put = await dashboard.call('PUT', '/api/tib/profiles/ad', { as: dashboard.boss, body: next })
  assert.equal(put.status, 200, put.text)
  for (const [name, password, permissions] of [
    ['ada', 'right', { hooks: 'write' }],
    ['bob', 'bobs', undefined],
  ] as const) {
    const browser = new Browser()
    await browser.visit(`${dashboard.base}/auth/ad/ADProvider`, { username: name, password })
    assert.deepEqual((await sessionIn(dashboard, browser))?.user.permissions, permissions, whyRefused(dashboard))
  }
})

test('wrong passwords, no password, unknown and hostile names are refused', async (t) => {
  const { signIn, filters, binds } = await world(
    t,
    {},
    {},
    { SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '0', SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '0' },
  )
  for (const [name, password] of [
    ['ada', 'wrong'],
    ['ada', ''],
    ['', 'right'],
    ['', ''],
    ['nobody', 'right'],
    ['*', 'right'],
    ['a*', 'right'],
    ['ada)(uid=*', 'right'],
    ['ada)(|(uid=*))', 'right'],
    ['*)(objectClass=*', 'right'],
    ['ada\u0000', 'right'],
    ['ada', 'right\u0000'],
    ['x'.repeat(10_000), 'right'],
  ] as const) {
    const answer = await signIn(name, password)
    assert.equal(answer.status, 403, name)
    assert.equal(answer.headers['set-cookie'], undefined)
  }
  for (const filter of filters) assert.doesNotMatch(filter, /uid=[^)]*\*|\(\||objectclass=\*/i, filter)
  assert.ok(binds.length > 0)
  assert.equal((await signIn('o(dd)*', 'odd')).status, 303, JSON.stringify([filters.at(-1), binds.slice(-2)]))
})

test('without an account for look-ups the name is put into the distinguished name, escaped', async (t) => {
  const own = { LDAPAdminUser: '', LDAPAdminPassword: '', LDAPUserDN: `uid=*USERNAME*,${BASE}`, LDAPFilter: '' }
  const { signIn, binds, orgId, store } = await world(t, { ...own, DefaultDomain: 'corp.example.test' })
  assert.equal((await signIn('ada', 'right')).status, 303)
  assert.equal((await signIn('ada', '')).status, 403)
  assert.equal((await signIn('ada', 'wrong')).status, 403)
  assert.equal((await signIn(`reader,${BASE}`, ADMIN.password)).status, 403)
  assert.equal((await signIn(`ada,${BASE}+cn=x`, 'right')).status, 403)
  assert.ok(binds.every((dn) => dn.toLowerCase().endsWith(BASE)))
  const { rows } = await store.audit.list({ orgId, action: 'Sign in', limit: 5 })
  assert.equal(rows[0]?.actor, 'ada@corp.example.test')
})

test('failed tries are bounded by name and by address', async (t) => {
  const { signIn, clock, binds } = await world(t, {}, {}, { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' })
  for (let i = 0; i < 3; i++) assert.equal((await signIn('ada', 'wrong')).status, 403)
  const before = binds.length
  const refused = await signIn('ADA', 'right')
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '900'])
  assert.equal(binds.length, before)
  clock.advance(900_000)
  assert.equal((await signIn('ada', 'right')).status, 303)
})

test('forms of other sites are refused; Basic counts only where the profile allows it', async (t) => {
  const dashboard = await world(t)
  const foreign = await dashboard.signIn('ada', 'right', { origin: 'https://evil.example' })
  assert.equal(foreign.status, 403)
  const basic = { authorization: `Basic ${Buffer.from('ada:right').toString('base64')}` }
  assert.equal((await dashboard.call('POST', '/auth/ad/ADProvider', { headers: basic })).status, 403)
  const other = await world(t, { GetAuthFromBAHeader: true })
  assert.equal((await other.call('POST', '/auth/ad/ADProvider', { headers: basic })).status, 303)
})

test('a missing, silent, private or untrusted directory is refused, with the reason in the log', async (t) => {
  const silent = createServer()
  const sockets = new Set<Socket>()
  silent.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const silentPort = (silent.address() as AddressInfo).port
  const dashboard = await ssoWorld(t, { SVC_SSO_TIMEOUTMS: '300' })
  const refused = async (id: string, profile: JsonObject, at = dashboard) => {
    await at.profile({ ...profile, ID: id })
    const answer = await at.call('POST', `/auth/${id}/ADProvider`, { body: 'username=ada&password=right' })
    assert.equal(answer.status, 403, id)
    assert.doesNotMatch(answer.text, /127\.0\.0\.1|ECONN|directory/)
    assert.match(whyRefused(at), /directory|network/)
  }
  await refused('away', profileOf(1))
  await refused('silent', profileOf(silentPort))
  await refused('untrusted', profileOf(silentPort, { LDAPUseSSL: true }))
  const fenced = await ssoWorld(t, { SVC_SSO_ALLOWPRIVATE: 'false' })
  const before = sockets.size
  for (const [id, server] of [
    ['private', '127.0.0.1'],
    ['named', 'localhost'],
  ] as const) {
    await refused(id, profileOf(silentPort, { LDAPServer: server }), fenced)
    assert.match(whyRefused(fenced), /: it is on a loopback, .*: set sso\.allow_private to reach it$/)
  }
  assert.equal(sockets.size, before)
})

test('a directory is asked by TLS, and not when its certificate is not trusted', async (t) => {
  const { cert, key } = makeCertificate('localhost')
  const dashboard = await ssoWorld(t)
  const { port, binds } = await directory(t, PEOPLE, { certificate: cert, key })
  await dashboard.profile(profileOf(port, { LDAPServer: 'localhost', LDAPUseSSL: true }))
  const ask = () => dashboard.call('POST', '/auth/ad/ADProvider', { body: 'username=ada&password=right' })
  assert.equal((await ask()).status, 403)
  assert.match(whyRefused(dashboard), /self-signed/)
  assert.deepEqual(binds, [])
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, cert])
  t.after(() => setDefaultCACertificates(trusted))
  assert.equal((await ask()).status, 303, whyRefused(dashboard))
  const named = { ...profileOf(port, { LDAPServer: '127.0.0.1', LDAPUseSSL: true }), ID: 'other' }
  await dashboard.profile(named)
  const other = await dashboard.call('POST', '/auth/other/ADProvider', { body: 'username=ada&password=right' })
  assert.equal(other.status, 403)
  assert.match(whyRefused(dashboard), /altnames|certificate/)
})

/** A front that speaks StartTLS (RFC 4511 section 4.14) before a plain directory; `then` may do something else after its word. */
async function startTlsFront(
  t: TestContext,
  port: number,
  tls: { cert: string; key: string },
  then?: 'refuse' | 'close',
) {
  const sockets = new Set<Socket>()
  const before: Buffer[] = []
  const front = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (data) => {
      const asked = Buffer.from(data as Uint8Array)
      before.push(asked)
      const word = then === 'refuse' ? 52 : 0
      socket.write(Buffer.from([0x30, 0x0c, 0x02, 0x01, asked[4]!, 0x78, 0x07, 0x0a, 0x01, word, 0x04, 0, 0x04, 0]))
      if (then === 'refuse') return void socket.on('data', (more) => before.push(Buffer.from(more as Uint8Array)))
      const secure = new TLSSocket(socket, { isServer: true, ...tls })
      secure.on('error', () => {})
      if (then === 'close') return void secure.once('secure', () => socket.destroy())
      const inner = connect({ host: '127.0.0.1', port })
      sockets.add(inner)
      inner.on('error', () => {})
      secure.pipe(inner).pipe(secure)
    })
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => front.close(() => resolve()))
  })
  return { port: (front.address() as AddressInfo).port, before }
}

test('StartTLS: nothing but the wish for it goes in the clear, and nobody is asked without it', async (t) => {
  const { cert, key } = makeCertificate('localhost')
  const dashboard = await ssoWorld(t)
  const { port, binds } = await directory(t, PEOPLE)
  const trusted = getCACertificates('default')
  t.after(() => setDefaultCACertificates(trusted))
  const config = { LDAPServer: 'localhost', LDAPStartTLS: true }
  const ask = async (id: string, front: { port: number; before: Buffer[] }) => {
    await dashboard.profile({ ...profileOf(front.port, config), ID: id })
    const { status } = await dashboard.call('POST', `/auth/${id}/ADProvider`, { body: 'username=ada&password=right' })
    const clear = Buffer.concat(front.before).toString('latin1')
    assert.ok(clear.includes('1.3.6.1.4.1.1466.20037') && !clear.includes('right') && !clear.includes(ADMIN.password))
    return status
  }
  const front = await startTlsFront(t, port, { cert, key })
  assert.equal(await ask('untrusted', front), 403)
  assert.match(whyRefused(dashboard), /self-signed/)
  setDefaultCACertificates([...trusted, cert])
  assert.equal(await ask('refuses', await startTlsFront(t, port, { cert, key }, 'refuse')), 403)
  assert.equal(await ask('closes', await startTlsFront(t, port, { cert, key }, 'close')), 403)
  assert.deepEqual(binds, [])
  assert.equal(await ask('good', front), 303)
  assert.ok(binds.length > 0)
})

test('values mean themselves in filters and names', () => {
  assert.equal(escapeFilterValue('a*(b)\\\u0000é'), 'a\\2a\\28b\\29\\5c\\00é')
  assert.equal(escapeNameValue(' a,b+c"d\\e<f>g;h=i '), '\\20a\\2cb\\2bc\\22d\\5ce\\3cf\\3eg\\3bh\\3di\\20')
  assert.equal(escapeNameValue('#x'), '\\23x')
})
