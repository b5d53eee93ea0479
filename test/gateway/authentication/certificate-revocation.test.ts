import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { allow, openWorld, store } from '../../worlds/gateway/authority-world.ts'
import { CRL_SIGN, type Issued, issue, KEY_CERT_SIGN, revocationList } from '../../worlds/wire/pki.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const ROOT = issue({ name: 'root', ca: true, usage: [KEY_CERT_SIGN, CRL_SIGN] })

interface Branch {
  readonly middle: Issued
  readonly leaf: Issued
}
const OLD = '2021-01-01T00:00:00Z'
const STRANGER = issue({ name: 'stranger', ca: true })
/** Each with an intermediate CA and a client of its own: the lists, whether the root revokes one of the two, and the client's status. */
const REVOCATIONS: readonly {
  readonly by: string
  readonly lists: (branch: Branch) => string
  readonly root?: keyof Branch
  readonly usage?: readonly number[]
  readonly wanted: number
}[] = [
  { by: 'its CA', lists: ({ middle, leaf }) => revocationList(middle, [STRANGER, leaf]), wanted: 403 },
  { by: 'nobody', lists: ({ middle }) => revocationList(middle, [STRANGER]), wanted: 200 },
  { by: 'a CA without a list', lists: () => '', wanted: 200 },
  { by: 'the CA of its CA', lists: () => '', root: 'middle', wanted: 403 },
  { by: 'serial number at another CA', lists: () => '', root: 'leaf', wanted: 200 },
  {
    by: 'a stranger with the name of the CA',
    lists: ({ middle, leaf }) => revocationList({ ...STRANGER, subject: middle.subject }, [leaf]),
    wanted: 200,
  },
  {
    by: 'a list that a stranger signed',
    lists: ({ middle, leaf }) => revocationList(middle, [leaf], { signer: STRANGER }),
    wanted: 200,
  },
  {
    by: 'a CA whose key usage signs no lists',
    usage: [KEY_CERT_SIGN],
    lists: ({ middle, leaf }) => revocationList(middle, [leaf]),
    wanted: 200,
  },
  {
    by: 'one of several lists',
    lists: ({ middle, leaf }) => revocationList(middle, []) + revocationList(middle, [leaf]),
    wanted: 403,
  },
  {
    by: 'a list that has run out',
    lists: ({ middle, leaf }) => revocationList(middle, [leaf], { until: OLD }),
    wanted: 403,
  },
  {
    by: 'nobody, by a list that has run out',
    lists: ({ middle }) => revocationList(middle, [], { until: OLD }),
    wanted: 503,
  },
  {
    by: 'nobody, by that and a newer one',
    lists: ({ middle }) => revocationList(middle, [], { until: OLD }) + revocationList(middle, []),
    wanted: 200,
  },
]

test('a CA takes back what it signed by its own signed list alone, at every place of the path', async (t) => {
  const branches = REVOCATIONS.map(({ usage = [KEY_CERT_SIGN, CRL_SIGN] }, at): Branch => {
    const middle = issue({ name: `middle ${at}`, ca: true, usage }, ROOT)
    return { middle, leaf: issue({ name: 'ann' }, middle) }
  })
  const byRoot = REVOCATIONS.flatMap(({ root }, at) => (root === undefined ? [] : [branches[at]![root]]))
  const lists = REVOCATIONS.map((row, at) => row.lists(branches[at]!)).join('') + revocationList(ROOT, byRoot)
  const world = await openWorld(t, lists)
  const root = await store(world, ROOT)
  const authentication = { securitySchemes: { key: { enabled: true, enableClientCertificate: true } } }
  const keys = defined({ id: 'k', url: world.url, keyIn: 'Authorization', authentication })
  assert.equal((await world.gate.svc('POST', '/svc/apis/oas', keys)).status, 200)
  const made = await world.gate.svc('POST', '/svc/keys/create', { access_rights: rights('k'), certificate: root })
  assert.equal(made.status, 200, made.text)
  await allow(world, root)
  for (const [at, { by, wanted }] of REVOCATIONS.entries()) {
    const { middle, leaf } = branches[at]!
    for (const path of ['/a/x', '/k/x'])
      assert.equal(await world.status(leaf.cert + middle.cert, leaf.key, path), wanted, `${path}, revoked by ${by}`)
  }
  const { middle, leaf } = branches[1]!
  const kept = await Client.connect(world.gate.gateway.tlsPort!, {
    ...{ rejectUnauthorized: false, cert: leaf.cert + middle.cert, key: leaf.key },
  })
  t.after(() => kept.destroy())
  const ask = async () => statusOf(await kept.ask('GET /a/x HTTP/1.1\r\nHost: a\r\n\r\n'))
  const replace = async (text: string, message: RegExp) => {
    writeFileSync(`${world.lists}.new`, text)
    renameSync(`${world.lists}.new`, world.lists)
    await eventually(String(message), () => world.gate.log.some((line) => message.test(line.message)))
  }
  assert.equal(await ask(), 200)
  await replace('nonsense', /revocation lists cannot be read/)
  assert.equal(
    await world.status(branches[0]!.leaf.cert + branches[0]!.middle.cert, branches[0]!.leaf.key),
    403,
    'the lists stay',
  )
  await replace(revocationList(middle, [leaf]), /revocation lists read again/)
  assert.equal(await ask(), 403, 'on an open connection too')
})

test('revocation lists that cannot be judged stop the start', async (t) => {
  const indirect = revocationList(ROOT, [], { critical: '2.5.29.28' })
  await assert.rejects(openWorld(t, indirect), /client_crl_file.*critical extension 2\.5\.29\.28/s)
  const endless = revocationList(ROOT, [STRANGER], { until: '' })
  await assert.rejects(openWorld(t, endless), /client_crl_file.*when the next one is due/s)
  await assert.rejects(openWorld(t, 'nonsense'), /client_crl_file.*X509 CRL/s)
  await assert.rejects(
    openWorld(t, revocationList(ROOT, []).replace(/\n.{20}/, '\n')),
    /client_crl_file.*cannot be read/s,
  )
})
