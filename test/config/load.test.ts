import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { Fault } from '../../src/errors/fault.ts'
import { bareSystem } from '../worlds/base/bare-system.ts'

type Env = Record<string, string>

function folder(t: TestContext, files: Record<string, string> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

function load(t: TestContext, env: Env, file?: unknown): LoadedConfig {
  const cwd = folder(t, file === undefined ? {} : { 'gatehouse.json': JSON.stringify(file) })
  return loadConfig({ env, cwd })
}

/** The lines of the fault that a start would end with. */
function problems(t: TestContext, env: Env, file?: unknown): string {
  try {
    load(t, env, file)
  } catch (error) {
    assert.ok(error instanceof Fault)
    assert.equal(error.code, 'setting_invalid')
    return error.message
  }
  return assert.fail('the settings were accepted')
}

test('the defaults are valid and come from nowhere', (t) => {
  const { config, origins, warnings } = load(t, {})
  assert.equal(config.gateway.listen_port, 8080)
  assert.equal(config.dashboard.listen_port, 3000)
  assert.equal(config.storage.path, './data')
  assert.deepEqual(config.gateway.trusted_proxies, [])
  assert.deepEqual(warnings, [])
  assert.equal(origins.size, SETTINGS.length)
  assert.ok([...origins.values()].every(({ from }) => from === 'default'))
})

test('the environment beats the file, which beats the default', (t) => {
  const { config, origins } = load(
    t,
    { SVC_GW_LISTENPORT: '9001' },
    { gateway: { listen_port: 9000, max_fields: 50 }, sample: false },
  )
  assert.equal(config.gateway.listen_port, 9001)
  assert.equal(config.gateway.max_fields, 50)
  assert.equal(config.sample, false)
  assert.deepEqual(origins.get('gateway.listen_port'), { from: 'env', name: 'SVC_GW_LISTENPORT' })
  assert.deepEqual(origins.get('gateway.max_fields'), { from: 'file', name: 'gatehouse.json' })
  assert.deepEqual(origins.get('gateway.max_head_bytes'), { from: 'default', name: '' })
})

test('a settings object cannot be changed', (t) => {
  const { config } = load(t, {}, { gateway: { trusted_proxies: ['10.0.0.0/8'] } })
  assert.throws(() => Object.assign(config.gateway, { listen_port: 1 }), TypeError)
  assert.throws(() => (config.gateway.trusted_proxies as string[]).push('0.0.0.0/0'), TypeError)
})

test('environment names follow from the paths and never meet', () => {
  const byPath = new Map(SETTINGS.map(({ path, env }) => [path, env]))
  assert.equal(byPath.get('gateway.listen_port'), 'SVC_GW_LISTENPORT')
  assert.equal(byPath.get('gateway.db_app_conf_options.node_is_segmented'), 'SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED')
  assert.equal(byPath.get('dashboard.admin_secret'), 'SVC_DB_ADMINSECRET')
  assert.equal(byPath.get('storage.path'), 'SVC_STORAGE_PATH')
  assert.equal(byPath.get('sample'), 'SVC_SAMPLE')
  assert.equal(new Set(byPath.values()).size, SETTINGS.length)
})

test('lists are separated by commas or written as JSON', (t) => {
  const tags = (text: string) => load(t, { SVC_GW_DBAPPCONFOPTIONS_TAGS: text }).config.gateway.db_app_conf_options.tags
  assert.deepEqual(tags('edge, eu'), ['edge', 'eu'])
  assert.deepEqual(tags('["a,b","c"]'), ['a,b', 'c'])
  assert.deepEqual(tags(''), [])
  for (const text of ['["a"', '[1]', '[["a"]]']) {
    assert.match(problems(t, { SVC_GW_DBAPPCONFOPTIONS_TAGS: text }), /give a list of texts/)
  }
})

test('flags are true, false, 1 or 0', (t) => {
  for (const [text, value] of [
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ] as const) {
    assert.equal(load(t, { SVC_SAMPLE: text }).config.sample, value)
  }
  assert.match(problems(t, { SVC_SAMPLE: 'no' }), /sample \(SVC_SAMPLE\): "no" is not allowed; give true or false/)
})

test('a value out of bounds is refused with its setting, its name and what is allowed', (t) => {
  const text = problems(t, { SVC_GW_LISTENPORT: '70000' })
  assert.equal(
    text,
    'gateway.listen_port (SVC_GW_LISTENPORT): 70000 is not allowed; give a whole number from 0 to 65535',
  )
  for (const wrong of ['', '8080x', '1e3', '80.5', '0x50']) {
    assert.match(problems(t, { SVC_GW_LISTENPORT: wrong }), /whole number from 0 to 65535/)
  }
})

test('a number of workers is one to 256, or auto', (t) => {
  const cwd = folder(t)
  const workers = (value: unknown, env: Record<string, string> = {}) => {
    writeFileSync(join(cwd, 'gatehouse.json'), JSON.stringify({ gateway: { workers: value } }))
    return loadConfig({ cwd, env, system: bareSystem({ cores: 2 }) }).config.gateway.workers
  }
  assert.deepEqual(
    [workers('auto'), workers(1, { SVC_GW_WORKERS: ' auto ' }), workers(256), workers(1)],
    [2, 2, 256, 1],
  )
  for (const wrong of [0, 300, -1, 1.5, 'many', 'Auto', null])
    assert.throws(() => workers(wrong), /gateway\.workers .*give a whole number from 1 to 256, or auto/, String(wrong))
  for (const wrong of ['0', '300', '-1', 'many', '', '1e1'])
    assert.throws(() => workers(1, { SVC_GW_WORKERS: wrong }), /\(SVC_GW_WORKERS\): .*, or auto/, wrong)
  const port = () => loadConfig({ cwd: import.meta.dirname, env: { SVC_GW_LISTENPORT: 'auto' } })
  assert.throws(port, /gateway\.listen_port/, 'a word of that setting alone')
})

test('a wrong type in the file is refused, null too', (t) => {
  for (const wrong of ['8080', null, 80.5, [1], {}]) {
    const text = problems(t, {}, { gateway: { listen_port: wrong } })
    assert.match(text, /^gateway\.listen_port \(in gatehouse\.json\): .* give a whole number from 0 to 65535$/)
  }
})

test('everything that is wrong is said at once', (t) => {
  const text = problems(
    t,
    { SVC_SAMPLE: 'x', SVC_LOG_LEVEL: 'loud', SVC_NONSENSE: '1' },
    { gateway: { max_fields: 0 } },
  )
  assert.equal(text.split('\n').length, 4)
  assert.match(text, /log\.level \(SVC_LOG_LEVEL\): "loud" is not allowed; give one of silent, error/)
})

test('an unknown name stops the start and the nearest one is named', (t) => {
  assert.match(
    problems(t, { SVC_GW_LISTENPRT: '1' }),
    /^SVC_GW_LISTENPRT: no such setting; did you mean SVC_GW_LISTENPORT\?$/,
  )
  assert.match(problems(t, { SVC_ZZZZZZZZZZZZZ: '1' }), /^SVC_ZZZZZZZZZZZZZ: no such setting$/)
  const text = problems(t, {}, { gateway: { lisen_port: 1 }, gatway: {}, storage: './x' })
  assert.match(text, /gateway\.lisen_port \(in gatehouse\.json\): no such setting; did you mean gateway\.listen_port\?/)
  assert.match(text, /gatway \(in gatehouse\.json\): no such setting/)
  assert.match(text, /storage \(in gatehouse\.json\): must be an object of settings/)
})

test('a setting at the top, or in another group, is told where it belongs', (t) => {
  const lastOf = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  for (const { path } of SETTINGS) {
    const name = lastOf(path)
    const alike = SETTINGS.map((other) => other.path).filter((other) => lastOf(other) === name)
    for (const at of [name, `analytics.${name}`]) {
      if (alike.length > 3 || SETTINGS.some((other) => `${other.path}.`.startsWith(`${at}.`))) continue
      const file = at === name ? { [name]: 1 } : { analytics: { [name]: 1 } }
      const text = `${at} (in gatehouse.json): no such setting; did you mean ${alike.join(' or ')}?`
      assert.ok(problems(t, {}, file).split('\n').includes(text), text)
    }
  }
  assert.match(problems(t, {}, { enable_ownership: true }), /did you mean dashboard\.enable_ownership\?$/)
})

test('a file cannot reach the prototype', (t) => {
  const cwd = folder(t, { 'gatehouse.json': '{"__proto__": {"sample": false}, "gateway": {"constructor": {}}}' })
  assert.throws(() => loadConfig({ env: {}, cwd }), /__proto__ \(in gatehouse\.json\): no such setting/)
  assert.equal(({} as { sample?: boolean }).sample, undefined)
})

test('a named file must be there; the default one need not', (t) => {
  const cwd = folder(t, { 'other.json': '{"sample": false}' })
  assert.equal(loadConfig({ env: {}, cwd }).config.sample, true)
  assert.equal(loadConfig({ env: {}, cwd, file: 'other.json' }).config.sample, false)
  assert.equal(loadConfig({ env: { SVC_CONFIG: 'other.json' }, cwd }).config.sample, false)
  assert.throws(() => loadConfig({ env: {}, cwd, file: 'absent.json' }), /absent\.json: cannot read the file .*ENOENT/)
})

test('broken JSON is refused by line, and its text is not repeated', (t) => {
  const cwd = folder(t, { 'gatehouse.json': '{\n"gateway": {\n"secret": "hush-hush" oops }}' })
  assert.throws(
    () => loadConfig({ env: {}, cwd }),
    (error: Fault) => {
      assert.equal(error.message, 'gatehouse.json: is not valid JSON, see line 3')
      return !String(error.stack).includes('hush')
    },
  )
  for (const text of ['', '[]', '"x"', 'null']) {
    assert.throws(() => loadConfig({ env: {}, cwd: folder(t, { 'gatehouse.json': text }) }), Fault)
  }
})

test('a secret is read from a file, without its line end, and only a secret', (t) => {
  const cwd = folder(t, { secret: 'from-a-file-of-its-own\n' })
  const file = join(cwd, 'secret')
  const { config, origins } = loadConfig({ env: { SVC_GW_SECRET_FILE: file }, cwd })
  assert.equal(config.gateway.secret, 'from-a-file-of-its-own')
  assert.equal(origins.get('gateway.secret')?.name, 'SVC_GW_SECRET_FILE')
  assert.match(problems(t, { SVC_GW_LISTENPORT_FILE: file }), /SVC_GW_LISTENPORT_FILE: no such setting/)
  assert.match(problems(t, { SVC_GW_SECRET_FILE: `${file}x` }), /SVC_GW_SECRET_FILE: cannot read the file/)
  const both = problems(t, { SVC_GW_SECRET_FILE: file, SVC_GW_SECRET: 'in-the-environment' })
  assert.match(both, /gateway\.secret: given twice, by SVC_GW_SECRET and SVC_GW_SECRET_FILE/)
})

test('a refused secret is not shown', (t) => {
  const text = problems(t, {}, { gateway: { secret: ['hush-hush'] } })
  assert.match(text, /gateway\.secret \(in gatehouse\.json\): the value is not allowed/)
  assert.doesNotMatch(text, /hush/)
})

test('a short secret is warned about without showing it', (t) => {
  for (const secret of ['tiny', ' '.repeat(16), `tiny${' '.repeat(12)}`, `tiny${'\t\u00a0\u2003'.repeat(9)}`]) {
    const { warnings, shortSecrets } = load(t, { SVC_GW_SECRET: secret })
    assert.equal(shortSecrets.length, 1, JSON.stringify(secret))
    assert.match(warnings[0]!, /gateway\.secret is shorter than 16/)
    assert.doesNotMatch(warnings[0]!, /tiny/)
  }
})

test('a short line is a short secret where each line is accepted', (t) => {
  const long = 'long-enough-to-be-a-secret'
  const files = {
    SVC_METRICS_SECRET_FILE: 'metrics.secret',
    SVC_GW_OAUTHREGISTRATIONTOKEN_FILE: 'oauth_registration_token',
  }
  const cwd = folder(t)
  for (const [name, setting] of Object.entries(files))
    for (const [text, isShort] of [
      [`${long}\nb`, true],
      [`b\r\n${long}`, true],
      [`${long}\n  \n`, true],
      [`${long}\n\n${long}-too\n`, false],
    ] as const) {
      const file = join(cwd, 'lines')
      writeFileSync(file, text)
      const { shortSecrets } = load(t, { [name]: file })
      assert.deepEqual(
        shortSecrets.map((problem) => problem.includes(setting)),
        isShort ? [true] : [],
        `${name} ${JSON.stringify(text)}`,
      )
    }
})

test('names under an alias count, ours win, strange ones are one warning', (t) => {
  const { config, warnings } = load(t, {
    SVC_COMPAT_VENDORALIASES: 'acme',
    ACME_GW_LISTENPORT: '9005',
    ACME_DB_LISTENPORT: '9006',
    SVC_DB_LISTENPORT: '9007',
    ACME_GW_OTHERTHING: 'x',
    ACME_LICENSE: 'y',
  })
  assert.equal(config.gateway.listen_port, 9005)
  assert.equal(config.dashboard.listen_port, 9007)
  assert.deepEqual(warnings, ['ignored, not known here: ACME_GW_OTHERTHING, ACME_LICENSE'])
  assert.equal(load(t, { ACME_GW_LISTENPORT: '9005' }).config.gateway.listen_port, 8080)
  assert.match(problems(t, { SVC_COMPAT_VENDORALIASES: 'Not A Word' }), /lower-case words/)
})

test('what contradicts itself is refused with the reason', (t) => {
  const segmented = { SVC_GW_MANAGEMENTNODE: 'true', SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true' }
  assert.match(problems(t, segmented), /^gateway\.management_node .* a management node must load every API/)
  assert.match(
    problems(t, { SVC_GW_TLS_CERTFILE: 'x' }),
    /gateway\.tls\.key_file .* because gateway\.tls\.cert_file is/,
  )
  assert.match(
    problems(t, { SVC_GW_APPPATH: 'absent' }),
    /gateway\.app_path \(SVC_GW_APPPATH\): "absent" does not exist/,
  )
})

test('trusted proxies are addresses and networks', (t) => {
  const good = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0']
  assert.deepEqual(load(t, { SVC_GW_TRUSTEDPROXIES: good.join() }).config.gateway.trusted_proxies, good)
  for (const wrong of ['10.0.0.0/33', '::/129', '10.0.0', 'proxy', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/-1', '*']) {
    assert.match(problems(t, { SVC_GW_TRUSTEDPROXIES: wrong }), /neither an address nor a network/, wrong)
  }
})

test('DNS servers are addresses, with a port or not', (t) => {
  const good = ['10.0.0.53', '10.0.0.53:5353', 'fd00::53', '[fd00::53]:5353']
  assert.deepEqual(load(t, { SVC_GW_DNSSERVERS: good.join() }).config.gateway.dns_servers, good)
  for (const wrong of ['dns.example', '10.0.0', '10.0.0.53:', '10.0.0.53:0', '10.0.0.53:65536', 'fd00::53:x']) {
    assert.match(problems(t, { SVC_GW_DNSSERVERS: wrong }), /no address of a DNS server/, wrong)
  }
})

test('the public URL is absolute and bare', (t) => {
  for (const good of ['https://api.example.org', 'http://10.0.0.1:8080/base']) {
    assert.equal(load(t, { SVC_GW_PUBLICURL: good }).config.gateway.public_url, good)
  }
  for (const wrong of ['api.example.org', '/x', 'ftp://x', 'https://a?b', 'https://a#', 'https://u:p@a']) {
    assert.match(problems(t, { SVC_GW_PUBLICURL: wrong }), /gateway\.public_url .*absolute http or https URL/, wrong)
  }
})

test('a map of texts is given as a JSON object', () => {
  const name = 'SVC_DB_SECURITY_ADDITIONALPERMISSIONS'
  const read = (text: string) => loadConfig({ env: { [name]: text }, cwd: import.meta.dirname }).config
  assert.deepEqual({ ...read('{"tester":"Tester"}').dashboard.security.additional_permissions }, { tester: 'Tester' })
  assert.deepEqual({ ...read('{}').dashboard.security.additional_permissions }, {})
  for (const wrong of ['', 'tester', '[]', 'null', '{"tester":7}', '{"__proto__":"x"}'])
    assert.throws(() => read(wrong), {
      message: /additional_permissions .*: .* is not allowed; give a JSON object of texts/,
    })
})

test('a list of objects is JSON, in the file or the environment, and each object is checked', (t) => {
  const name = 'SVC_DB_EDGEENDPOINTS'
  const edges = [
    { name: 'Paris', endpoint: 'https://paris.example.org/base', tags: ['eu', 'fr'] },
    { name: 'Everything', endpoint: 'http://10.0.0.1:8080' },
  ]
  const read = (env: Env, file?: unknown) => load(t, env, file).config.dashboard.edge_endpoints
  assert.deepEqual(read({}), [])
  assert.deepEqual(read({ [name]: JSON.stringify(edges) }), edges)
  assert.deepEqual(read({}, { dashboard: { edge_endpoints: edges } }), edges)
  assert.deepEqual(read({ [name]: '[]' }, { dashboard: { edge_endpoints: edges } }), [])
  const [edge] = edges
  const wrong = [
    '',
    'paris',
    '{}',
    '["paris"]',
    '[null]',
    '[{"name":"a"}]',
    '[{"__proto__":{"name":"a","endpoint":"http://a"}}]',
  ]
  for (const more of [{ tags: 'eu' }, { tags: ['eu', 'eu'] }, { tags: [1] }, { name: '' }, { other: 1 }])
    wrong.push(JSON.stringify([{ ...edge, ...more }]))
  for (const text of wrong)
    assert.match(
      problems(t, { [name]: text }),
      /edge_endpoints \(SVC_DB_EDGEENDPOINTS\): .* give a list of objects/,
      text,
    )
  for (const endpoint of ['paris.example.org', 'ftp://a', 'https://a?b', 'https://u:p@a'])
    assert.match(
      problems(t, { [name]: JSON.stringify([{ ...edge, endpoint }]) }),
      /edge_endpoints .*: endpoint of "Paris" .*absolute http or https URL/,
      endpoint,
    )
  assert.match(problems(t, {}, { dashboard: { edge_endpoints: [edge, edge] } }), /"Paris" is there twice/)
  assert.throws(() => Object.assign(read({ [name]: JSON.stringify(edges) })[0]!, { name: 'x' }), TypeError)
})
