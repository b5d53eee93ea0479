import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import type { Finding } from '../../src/model/nodes/health.ts'
import { newSecret } from '../../src/model/secrets/secret.ts'
import { examine } from '../../src/process/examine.ts'
import { MIGRATIONS } from '../../src/store/sqlite/migrations/schema.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { readFixture } from '../worlds/store/schema-fixtures.ts'
import { makeCertificate } from '../worlds/wire/certificates.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Settings in which there is nothing to find. */
const SAFE = { SVC_GW_LISTENHOST: '127.0.0.1', SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0' }

interface Case {
  readonly what: string
  readonly env?: Readonly<Record<string, string>>
  /** Spoils a copy of a sound installation. */
  readonly change?: (folder: string) => void
  readonly full?: boolean
  readonly finds: Pick<Finding, 'severity' | 'check'> & { readonly where?: RegExp; readonly what: RegExp }
}

const sql = (text: string) => (folder: string) => {
  const db = new DatabaseSync(join(folder, 'data/gatehouse.db'))
  db.exec(text)
  db.close()
}
const setting = (env: Record<string, string>, where: RegExp): Case => ({
  ...{ what: Object.keys(env)[0]!, env },
  finds: { severity: 'warning', check: 'settings', where, what: /./ },
})

const CASES: readonly Case[] = [
  {
    what: 'a setting that is not valid',
    env: { SVC_GW_LISTENPORT: 'many' },
    finds: { severity: 'error', check: 'configuration', what: /gateway\.listen_port.*SVC_GW_LISTENPORT/ },
  },
  setting({ SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }, /^webhooks\.allow_private$/),
  setting({ SVC_SSO_ALLOWPRIVATE: 'true' }, /^sso\.allow_private$/),
  setting({ SVC_DB_IMPORTURL_ENABLED: 'true', SVC_DB_IMPORTURL_ALLOWPRIVATE: 'true' }, /^dashboard\.import_url/),
  setting({ SVC_PORTAL_ALLOWUNSAFEGET: 'true' }, /^portal\.allow_unsafe_get$/),
  setting({ SVC_GW_LISTENHOST: '0.0.0.0' }, /^gateway\.tls$/),
  setting({ SVC_GW_SECRET: 'short', SVC_SAMPLE: 'true' }, /^settings$/),
  {
    what: 'a folder that others can read',
    change: (folder) => chmodSync(join(folder, 'data'), 0o755),
    finds: { severity: 'warning', check: 'settings', where: /data$/, what: /other users/ },
  },
  {
    what: 'no store yet',
    change: (folder) => rmSync(join(folder, 'data'), { recursive: true }),
    finds: { severity: 'info', check: 'store', what: /no store yet/ },
  },
  {
    what: 'a damaged file',
    change: (folder) => {
      const file = join(folder, 'data/gatehouse.db')
      const bytes = readFileSync(file)
      bytes.fill(0x5a, 40 * 4096, 44 * 4096)
      writeFileSync(file, bytes)
    },
    finds: { severity: 'error', check: 'store', where: /gatehouse\.db$/, what: /./ },
  },
  {
    what: 'a file that was cut short',
    change: (folder) => {
      const file = join(folder, 'data/gatehouse.db')
      writeFileSync(file, readFileSync(file).subarray(0, 50_000))
    },
    finds: { severity: 'error', check: 'store', what: /malformed|damaged/ },
  },
  {
    what: 'a document that refers to nothing',
    change: sql("INSERT INTO document_index VALUES ('api', 'api_id', 'lost', '', '00000000000000000000000a')"),
    finds: { severity: 'error', check: 'store', what: /document_index/ },
  },
  {
    what: 'a row that cannot be decoded, in full',
    change: sql("UPDATE document SET body = substr(body, 1, 9) WHERE kind = 'policy'"),
    full: true,
    finds: { severity: 'error', check: 'store', what: /JSON/ },
  },
  {
    what: 'a newer version',
    change: sql(`INSERT INTO schema_version VALUES (${MIGRATIONS.length + 1}, 0)`),
    finds: { severity: 'error', check: 'migrations', what: /restore the backup from before/ },
  },
  {
    what: 'an older version',
    change: (folder) => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `data/gatehouse.db${end}`), { force: true })
      sql(`PRAGMA journal_mode = WAL; ${readFixture('sqlite', 4)}`)(folder)
    },
    finds: { severity: 'warning', check: 'migrations', what: new RegExp(`version 4; .* ${MIGRATIONS.length}`) },
  },
  {
    what: 'another seal key',
    env: { SVC_STORAGE_SEALKEY: newSecret() },
    finds: { severity: 'error', check: 'store', what: /./ },
  },
  {
    what: 'a store that was moved',
    change: sql('PRAGMA user_version = 2'),
    finds: { severity: 'error', check: 'store', what: /was moved/ },
  },
  {
    what: 'no secrets',
    change: (folder) => rmSync(join(folder, 'data/secrets.json')),
    finds: { severity: 'error', check: 'store', what: /secrets\.json is missing/ },
  },
  {
    what: 'a clock that was set back',
    change: sql(
      `INSERT INTO audit(revision, at, actor, action, org_id, detail) VALUES (1, ${Date.now() + 3_600_000}, '', '', '', '{}')`,
    ),
    finds: { severity: 'warning', check: 'clock', what: /35\d\d s in the future|3600 s in/ },
  },
]

test('the doctor finds what is wrong, says what to do, and changes nothing', async (t) => {
  const folder = folderFor(t)
  const product = await startProduct(t, folder, SAFE)
  const ports = { SVC_GW_LISTENPORT: `${product.port}`, SVC_DB_LISTENPORT: `${product.dashboardPort}` }
  await product.svc('POST', '/svc/keys/create', { access_rights: {} })
  await product.svc('POST', '/svc/policies', { id: 'p', name: 'p', access_rights: {} })
  const found = (at: string, env: Readonly<Record<string, string>> = {}, full = false) =>
    examine(() => loadConfig({ env: { ...SAFE, ...env }, cwd: at }), full)
  assert.deepEqual(
    await found(folder, { ...ports, SVC_STORAGE_PATH: join(folder, 'data') }, true),
    [],
    'a running server',
  )
  await product.stop()
  assert.deepEqual(await found(folder, { SVC_STORAGE_PATH: join(folder, 'data') }, true), [])

  for (const { what, env, change, full, finds } of CASES) {
    const at = folderFor(t)
    cpSync(folder, at, { recursive: true })
    change?.(at)
    const before = filesOf(at)
    const findings = await found(at, { SVC_STORAGE_PATH: join(at, 'data'), ...env }, full)
    const right = findings.filter((each) => {
      const isSame = each.severity === finds.severity && each.check === finds.check
      return isSame && finds.what.test(each.what) && (finds.where?.test(each.where) ?? true) && each.action !== ''
    })
    assert.equal(right.length, 1, `${what}: ${JSON.stringify(findings)}`)
    assert.equal(findings.length, 1, `${what}: ${JSON.stringify(findings)}`)
    assert.deepEqual(filesOf(at), before, what)
  }

  await t.test('a port of another program', async (t) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    t.after(() => other.close())
    const { port } = other.address() as { port: number }
    const [finding] = await found(folder, { SVC_STORAGE_PATH: join(folder, 'data'), SVC_GW_LISTENPORT: `${port}` })
    assert.deepEqual([finding?.severity, finding?.check, finding?.where], ['error', 'ports', 'gateway.listen_port'])
  })

  await t.test('certificates about to expire', async () => {
    for (const [days, severity] of [
      [-1, 'error'],
      [10, 'warning'],
    ] as const) {
      const until = new Date(Date.now() + (days + 0.5) * 86_400_000).toISOString().replace(/\.\d+/, '')
      const { cert, key } = makeCertificate('a.example', { from: '2020-01-01T00:00:00Z', until })
      writeFileSync(join(folder, 'cert.pem'), cert)
      writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 })
      const tls = {
        SVC_GW_TLS_ENABLED: 'true',
        SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
        SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
      }
      const [finding] = await found(folder, { SVC_STORAGE_PATH: join(folder, 'data'), ...tls })
      assert.deepEqual([finding?.severity, finding?.check], [severity, 'certificates'])
      assert.match(finding!.what, days < 0 ? /expired/ : /in 10 days/)
    }
  })

  await t.test('the command: text, JSON and exit status', () => {
    const run = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      spawnSync(process.execPath, [join(ROOT, 'src/main.ts'), 'doctor', ...words], {
        ...{ cwd: folder, encoding: 'utf8', env: { ...process.env, ...SAFE, ...env } },
      })
    const sound = run([])
    assert.deepEqual([sound.status, sound.stdout], [0, '0 errors, 0 warnings\n'], sound.stderr)
    const risky = run(['--full', '--json'], { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' })
    assert.equal(risky.status, 2, risky.stderr)
    assert.equal(JSON.parse(risky.stdout).findings[0].where, 'webhooks.allow_private')
    assert.equal(run([], { SVC_GW_LISTENPORT: 'many' }).status, 1)
    for (const words of printed()) assert.equal(run(words).status, 0, words.join(' '))
  })
})

/** The commands that the pages print, each once. */
function printed(): string[][] {
  const pages = ['doctor', 'upgrade'].map((name) => readFileSync(join(ROOT, `docs/operate/${name}.md`), 'utf8'))
  const lines = pages.flatMap((page) =>
    [...page.matchAll(/^ *bin\/gatehouse doctor(.*)$/gm)].map((match) => match[1]!.trim()),
  )
  return [...new Set(lines)].map((line) => line.split(' ').filter((word) => word !== ''))
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Contents of a data folder, but for what SQLite keeps beside a file that is read. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const kept = names.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !/-(wal|shm)$/.test(path))
  return Object.fromEntries(kept.map((path) => [path, readFileSync(path).toString('base64')]))
}
