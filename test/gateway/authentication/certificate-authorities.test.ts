import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { spread } from '../../worlds/base/spread.ts'
import { allow, openWorld, store } from '../../worlds/gateway/authority-world.ts'
import { openJudge } from '../../worlds/wire/openssl-judge.ts'
import {
  CLIENT_AUTH,
  type Contents,
  DIGITAL_SIGNATURE,
  type Issued,
  issue,
  KEY_CERT_SIGN,
  KEY_ENCIPHERMENT,
  SERVER_AUTH,
  type TestName,
} from '../../worlds/wire/pki.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 300 : 20
const NAMES: readonly TestName[] = [
  { dns: 'a.good.example' },
  { dns: 'good.example' },
  { dns: 'bad.example' },
  { dns: 'notgood.example' },
  { email: 'ann@good.example' },
  { email: 'ann@a.good.example' },
  { ip: '10.1.2.3' },
  { ip: '192.0.2.1' },
  { uri: 'https://a.good.example/x' },
  { uri: 'spiffe://bad.example/x' },
  { directory: 'someone' },
]
const SUBTREES: readonly TestName[] = [
  { dns: 'good.example' },
  { dns: '.good.example' },
  { dns: 'bad.example' },
  { email: 'good.example' },
  { email: '.good.example' },
  { email: 'ann@good.example' },
  { ip: '10.0.0.0/255.0.0.0' },
  { uri: '.good.example' },
  { uri: 'bad.example' },
  { directory: 'someone' },
]

/** Absent, but once in `of`. */
const seldom = <T>(value: fc.Arbitrary<T>, of: number) =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const some = (list: readonly TestName[]) => fc.subarray([...list], { minLength: 1, maxLength: 2 })
const purposes = fc.constantFrom([CLIENT_AUTH], [CLIENT_AUTH, SERVER_AUTH], [SERVER_AUTH], ['2.5.29.37.0'])
const shared = {
  purposes: seldom(purposes, 8),
  critical: seldom(fc.constant('1.3.6.1.4.1.99999.1'), 30),
}
const issuer = {
  ...shared,
  pathLength: seldom(fc.nat(2), 3),
  usage: fc.constantFrom([KEY_CERT_SIGN], [KEY_CERT_SIGN, 6], undefined),
  permitted: seldom(some(SUBTREES), 4),
  excluded: seldom(some(SUBTREES), 4),
}
const authority = fc.record(issuer).map((more): Contents => tidy({ ...more, name: 'root', ca: true }))
const intermediate = fc.record({
  ...issuer,
  usage: fc.constantFrom([KEY_CERT_SIGN], [KEY_CERT_SIGN], [KEY_CERT_SIGN], undefined, [DIGITAL_SIGNATURE]),
  ca: fc.constantFrom(true, true, true, true, true, true, false, undefined),
  selfIssued: fc.boolean(),
  forged: seldom(fc.constant(true), 20),
})
const client = fc
  .record({
    ...shared,
    name: fc.constantFrom('ann', 'ann', 'a.good.example', 'bad.example', ''),
    usage: seldom(fc.constantFrom([DIGITAL_SIGNATURE], [DIGITAL_SIGNATURE, KEY_CERT_SIGN], [KEY_ENCIPHERMENT]), 2),
    ca: fc.constantFrom(undefined, false, true),
    names: seldom(some(NAMES), 2),
  })
  .map((contents): Contents => tidy(contents))

/** Without members that are undefined. */
function tidy<T extends object>(contents: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(contents).filter(([, value]) => value !== undefined)) as never
}

test('property: a listed CA vouches for the clients that OpenSSL vouches for', async (t) => {
  const world = await openWorld(t)
  const judge = await openJudge(t)
  const stranger = issue({ name: 'stranger', ca: true })
  let accepted = 0
  const chains = fc.record({
    root: authority,
    between: fc.array(intermediate, { maxLength: 3 }),
    leaf: client,
    order: fc.constantFrom(
      'whole',
      'whole',
      'whole',
      'reversed',
      'with a stranger',
      'with the root',
      'without the first',
    ),
  })
  await fc.assert(
    fc.asyncProperty(chains, async ({ root: rootContents, between, leaf: leafContents, order }) => {
      const root = issue(rootContents)
      const intermediates: Issued[] = []
      let above = root
      let name = 'root'
      for (const [at, { selfIssued, forged, ...contents }] of between.entries()) {
        if (!selfIssued) name = `intermediate ${at}`
        above = issue(tidy({ ...contents, name }), above, forged ? stranger : above)
        intermediates.unshift(above)
      }
      const leaf = issue(leafContents, above)
      const presented = {
        whole: intermediates,
        reversed: intermediates.toReversed(),
        'with a stranger': [stranger, ...intermediates, stranger],
        'with the root': [...intermediates, root],
        'without the first': intermediates.slice(1),
      }[order]!
      const chain = [leaf, ...presented].map(({ cert }) => cert).join('')
      const wanted = await judge(root.cert, chain, leaf.key)
      const id = await store(world, root)
      await allow(world, id)
      assert.equal(await world.status(chain, leaf.key), wanted ? 200 : 403)
      // All CAs of an organisation are read after each change.
      assert.equal((await world.gate.svc('DELETE', `/svc/certs/${id}`)).status, 200)
      if (wanted) accepted++
    }),
    { numRuns: RUNS },
  )
  // A short run may draw refusals alone.
  if (RUNS > 100) assert.ok(accepted > RUNS / 10, `${accepted} of ${RUNS} accepted`)
})

test('name constraints permit and exclude names of every form as OpenSSL says', async (t) => {
  const world = await openWorld(t)
  const judge = await openJudge(t)
  for (const [at, subtree] of SUBTREES.entries()) {
    for (const kind of ['permitted', 'excluded'] as const) {
      const root = issue({ name: 'root', ca: true, [kind]: [subtree] })
      await allow(world, await store(world, root))
      for (const name of spread(NAMES, at, 3)) {
        const leaf = issue({ name: 'ann', names: [name] }, root)
        const wanted = (await judge(root.cert, leaf.cert, leaf.key)) ? 200 : 403
        assert.equal(await world.status(leaf.cert, leaf.key), wanted, JSON.stringify({ [kind]: subtree, name }))
      }
    }
  }
})

/** A PKI as companies have it: a root, an intermediate that may sign no CAs, and a client. */
const ROOT = issue({ name: 'root', ca: true, usage: [KEY_CERT_SIGN] })
const MIDDLE = issue({ name: 'middle', ca: true, pathLength: 0, usage: [KEY_CERT_SIGN] }, ROOT)
const ANN = issue({ name: 'ann', usage: [DIGITAL_SIGNATURE], purposes: [CLIENT_AUTH] }, MIDDLE)
const FORGED = issue({ name: 'ann' }, MIDDLE, issue({ name: 'middle' }))
const EVE = issue({ name: 'ann' }, issue({ name: 'middle', ca: true, pathLength: 0 }))
const WHOLE = ANN.cert + MIDDLE.cert

test('a CA in an allow list counts from when it is stored and listed until it is not', async (t) => {
  const world = await openWorld(t)
  await allow(world, ROOT.fingerprint)
  assert.equal(await world.status(WHOLE, ANN.key), 403, 'the gateway has its fingerprint alone')
  const root = await store(world, ROOT)
  assert.equal(await world.status(WHOLE, ANN.key), 200)
  assert.equal(await world.status(ANN.cert, ANN.key), 403, 'without the intermediate')
  assert.equal(await world.status(EVE.cert, EVE.key), 403)
  assert.equal(await world.status(FORGED.cert + MIDDLE.cert, FORGED.key), 403)
  assert.equal(await world.status(ANN.cert + MIDDLE.cert, EVE.key).catch(() => 0), 0, 'a chain without its key')
  const middle = await store(world, MIDDLE)
  assert.equal(await world.status(ANN.cert, ANN.key), 403, 'stored, and not listed')
  await allow(world, middle)
  assert.equal(await world.status(ANN.cert, ANN.key), 200, 'an intermediate is an anchor where it is listed')
  assert.equal(await world.status(WHOLE + ROOT.cert, ANN.key), 200)
  await allow(world, root, EVE.fingerprint)
  assert.deepEqual([await world.status(WHOLE, ANN.key), await world.status(EVE.cert, EVE.key)], [200, 200])
  const kept = await Client.connect(world.gate.gateway.tlsPort!, {
    ...{ rejectUnauthorized: false, cert: WHOLE, key: ANN.key },
  })
  t.after(() => kept.destroy())
  const ask = async () => statusOf(await kept.ask('GET /a/x HTTP/1.1\r\nHost: a\r\n\r\n'))
  assert.equal(await ask(), 200)
  assert.equal((await world.gate.svc('DELETE', `/svc/certs/${root}`)).status, 200)
  assert.equal(await ask(), 403, 'on an open connection too')
})

test('a CA of one organisation vouches for nobody at another', async (t) => {
  const world = await openWorld(t)
  const server = { clientCertificates: { enabled: true, allowlist: [ROOT.fingerprint] } }
  for (const id of ['a', 'b']) {
    const api = defined({
      id,
      url: world.url,
      server: { ...server, listenPath: { value: `/${id}/`, strip: true } },
      info: { orgId: id },
    })
    assert.equal((await world.gate.svc('POST', '/svc/apis/oas', api)).status, 200)
  }
  assert.equal((await world.gate.svc('POST', '/svc/certs?org_id=b', ROOT.cert)).status, 200)
  assert.deepEqual([await world.status(WHOLE, ANN.key, '/a/x'), await world.status(WHOLE, ANN.key, '/b/x')], [403, 200])
})

test('each certificate of a path must be valid at the time of the request', async (t) => {
  const world = await openWorld(t)
  const hour = { from: '2023-11-14T22:13:20Z', until: '2023-11-14T23:13:20Z' }
  const [begin, end] = [Date.parse(hour.from), Date.parse('2023-11-14T23:13:20.999Z')]
  for (const dated of ['root', 'middle', 'ann']) {
    const at = (name: string) => (name === dated ? { validity: hour } : {})
    const root = issue({ name: 'root', ca: true, ...at('root') })
    const middle = issue({ name: 'middle', ca: true, ...at('middle') }, root)
    const ann = issue({ name: 'ann', ...at('ann') }, middle)
    await allow(world, await store(world, root))
    const statuses: number[] = []
    for (const wallMs of [begin - 1, begin, end, end + 1]) {
      world.gate.clock.wallMs = wallMs
      statuses.push(await world.status(ann.cert + middle.cert, ann.key))
    }
    assert.deepEqual(statuses, [403, 200, 200, 403], dated)
  }
})

test('a key whose certificate is a CA is opened by what it signed, with and without its text', async (t) => {
  const world = await openWorld(t)
  const root = await store(world, ROOT)
  const authentication = { securitySchemes: { key: { enabled: true, enableClientCertificate: true } } }
  const api = defined({ id: 'a', url: world.url, keyIn: 'Authorization', authentication })
  assert.equal((await world.gate.svc('POST', '/svc/apis/oas', api)).status, 200)
  assert.equal(await world.status(WHOLE, ANN.key), 403)
  const bound = { access_rights: rights('a'), mtls_static_certificate_bindings: [root] }
  const key = 'a-key-of-my-own-choice'
  assert.equal((await world.gate.svc('POST', `/svc/keys/${key}`, bound)).status, 200)
  const withKey = `Authorization: ${key}\r\n`
  assert.equal(await world.status(WHOLE, ANN.key, '/a/x', withKey), 200)
  assert.equal(await world.status(EVE.cert, EVE.key, '/a/x', withKey), 403)
  assert.equal(await world.status(WHOLE, ANN.key), 403, 'bindings are no key')
  const made = await world.gate.svc('POST', '/svc/keys/create', { access_rights: rights('a'), certificate: root })
  assert.equal(made.status, 200, made.text)
  assert.equal(await world.status(WHOLE, ANN.key), 200)
  assert.equal(await world.status(EVE.cert, EVE.key), 403)
  // The certificate's own key comes first, whatever its state.
  const own = { access_rights: rights('a'), certificate: ANN.fingerprint, is_inactive: true }
  assert.equal((await world.gate.svc('POST', '/svc/keys/create', own)).status, 200)
  assert.equal(await world.status(WHOLE, ANN.key), 403)
})

test('a CA that can vouch for nobody is warned of at save, and revocation lists are refused', async (t) => {
  const world = await openWorld(t)
  const server = (allowlist: string[]) => ({ clientCertificates: { enabled: true, allowlist } })
  for (const [contents, reason] of [
    [{ purposes: [SERVER_AUTH] }, /extended key usage lacks clientAuth/],
    [{ critical: '1.3.6.1.4.1.99999.1' }, /critical extension 1\.3\.6\.1\.4\.1\.99999\.1 is not supported/],
    [{}, undefined],
  ] as const) {
    const id = await store(world, issue({ name: 'root', ca: true, ...contents }))
    const saved = await world.gate.svc(
      'POST',
      '/svc/apis/oas',
      defined({ id: 'w', url: world.url, server: server([id]) }),
    )
    assert.equal(saved.status, 200, saved.text)
    if (reason === undefined) assert.doesNotMatch(saved.text, /vouches/)
    else assert.match(saved.text, reason)
    assert.equal((await world.gate.svc('DELETE', '/svc/apis/oas/w')).status, 200)
  }
  const list = '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n'
  const refused = await world.gate.svc('POST', '/svc/certs', issue({ name: 'other', ca: true }).cert + list)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /revocation lists are not stored/)
})

test('signatures over SHA-1 and short RSA keys prove nothing', async (t) => {
  const world = await openWorld(t)
  await allow(world, await store(world, ROOT))
  for (const [between, own, wanted] of [
    [{}, {}, 200],
    [{ rsaBits: 2048 }, {}, 200],
    [{ sha1: true }, {}, 403],
    [{}, { sha1: true }, 403],
    [{ rsaBits: 1024 }, {}, 403],
    [{}, { rsaBits: 1024 }, 403],
  ] as const) {
    const middle = issue({ name: 'middle', ca: true, ...between }, ROOT)
    const leaf = issue({ name: 'ann', ...own }, middle)
    const status = await world.status(leaf.cert + middle.cert, leaf.key)
    assert.equal(status, wanted, JSON.stringify([between, own]))
  }
})

test('odd chains are refused, cost no more than their size, and harm nobody', async (t) => {
  const world = await openWorld(t)
  await allow(world, await store(world, ROOT))
  const large = issue({ name: 'ann', harmless: 1_000_000 }, MIDDLE)
  const bulky = issue({ name: 'ann', harmless: 60_000 }, MIDDLE)
  const nameless = issue({ name: '', names: [{ dns: 'ann.example' }] }, MIDDLE)
  const authority = issue({ name: 'authority', ca: true })
  // Certificates that all name one another: as many paths as orders of them.
  const ring = Array.from({ length: 9 }, () =>
    issue({ name: 'ring', ca: true, keysOf: authority }, { ...authority, subject: issue({ name: 'ring' }).subject }),
  )
  const lost = issue({ name: 'lost' }, ring[0]!)
  const rows: [what: string, chain: string, key: string, wanted: number][] = [
    ['a megabyte of extensions', large.cert + MIDDLE.cert, large.key, 0],
    ['more of them than are kept', bulky.cert + MIDDLE.cert, bulky.key, 403],
    ['no subject', nameless.cert + MIDDLE.cert, nameless.key, 200],
    ['a CA that signed itself', authority.cert, authority.key, 403],
    ['the listed CA itself', ROOT.cert, ROOT.key, 200],
    ['a ring', lost.cert + ring.map(({ cert }) => cert).join(''), lost.key, 403],
    ['the same intermediate nine times', ANN.cert + MIDDLE.cert.repeat(9), ANN.key, 200],
    ['more certificates than are looked at', ANN.cert + MIDDLE.cert.repeat(12), ANN.key, 403],
  ]
  for (const [what, chain, key, wanted] of rows) {
    assert.equal(await world.status(chain, key).catch(() => 0), wanted, what)
  }
  assert.equal(await world.status(WHOLE, ANN.key), 200)
})
