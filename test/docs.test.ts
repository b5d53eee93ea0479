import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { AREAS } from '../console/src/texts/areas.ts'
import { SHELL } from '../console/src/texts/shell.ts'
import { generatedPages } from '../scripts/docs.ts'
import { retiredPhrases } from './house/prose.ts'
import { allPages, printedBlocks } from './worlds/docs/printed.ts'

const ROOT = join(import.meta.dirname, '..')
const LINK = /\[[^\]]*\]\((?<to>[^)\s]+)\)/g
/** A source, as pages name it. */
const FILE = /\b(?:src|test|bench|scripts|console|examples)\/[\w./-]*\.(?:ts|tsx|mjs|json)\b/g
const CODE_BLOCK = /^```[\s\S]*?^```/gm

const pages = [
  ...readdirSync(ROOT).map((name) => join(ROOT, name)),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => join(ROOT, 'docs', String(name))),
].filter((path) => path.endsWith('.md'))

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

for (const [path, text] of generatedPages()) {
  test(`${path} is what \`npm run docs\` writes`, () => {
    assert.equal(existsSync(join(ROOT, path)) ? read(path) : '', text, 'run `npm run docs`')
  })
}

test('links between pages lead somewhere', () => {
  assert.ok(pages.length >= 8)
  assert.deepEqual(
    pages.flatMap((path) => deadLinks(path, readFileSync(path, 'utf8'))),
    [],
  )
})

test('a dead link would be found', () => {
  const here = join(ROOT, 'README.md')
  assert.deepEqual(deadLinks(here, '[a](absent.md) [b](https://example.org/x) [c](docs/architecture.md)'), [
    'README.md: absent.md',
  ])
  assert.deepEqual(deadLinks(here, '# One heading\n[a](#one-heading) [b](#another)'), ['README.md: #another'])
})

test('files that pages name are there', () => {
  const named = pages.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(FILE)].map(([file]) => ({ page: relative(ROOT, path), file })),
  )
  assert.ok(named.length > 50)
  assert.deepEqual(
    named.filter(({ page, file }) => page !== 'CHANGELOG.md' && !existsSync(join(ROOT, file))),
    [],
  )
})

test('blocks of commands are shell, and those that are not run say why', () => {
  const blocks = allPages().flatMap(printedBlocks)
  assert.ok(blocks.length > 100)
  const wrong = blocks.filter(({ mark, script }) => {
    const isKnown = mark === '' || mark === 'server' || /^no-run: \w.{4,}/.test(mark)
    // One that is run would not come back from a start of the product.
    const starts = mark === '' && /^(?:\w+=\S+ )*(?:npm start|npm run (?:dev|example)\S*)/m.test(script)
    return !isKnown || starts || spawnSync('sh', ['-n'], { input: script }).status !== 0
  })
  assert.deepEqual(
    wrong.map(({ page, line }) => `${page}:${line}`),
    [],
  )
})

test('settings and variables that pages name are there', () => {
  const table = read('docs/generated/config.md')
  const settings = [...table.matchAll(/^\| `([\w.]+)` \|/gm)].map((match) => match[1]!)
  const groups = [...new Set(settings.map((name) => name.split('.')[0]!))].filter((name) => name !== 'sample')
  const variables = new Set([...table.matchAll(/`(SVC_\w+)`/g)].map((match) => match[1]!))
  const setting = new RegExp(`\`((?:${groups.join('|')})\\.[a-z_.]*[a-z_])[\`=: ]`, 'g')
  const isSetting = (name: string) => settings.some((one) => one === name || one.startsWith(`${name}.`))
  const isVariable = (name: string) =>
    /^SVC_(?:CONFIG|SYNC_|IMPORT_)/.test(name) ||
    [...variables].some((one) => name === one || name === `${one}_FILE` || one.startsWith(name))
  const unknown = (text: string) => [
    ...[...text.matchAll(setting)]
      .map((match) => match[1]!)
      .filter((name) => !isSetting(name) && !/\.(?:example|ts)$/.test(name)),
    ...[...text.matchAll(/\bSVC_[A-Z0-9_]+/g)].map(([name]) => name).filter((name) => !isVariable(name)),
  ]
  assert.deepEqual(unknown('`gateway.listen_port`, `gateway.listen_prot`, `SVC_GW_LISTENPORT`, `SVC_GW_LISTENPROT`'), [
    'gateway.listen_prot',
    'SVC_GW_LISTENPROT',
  ])
  assert.deepEqual(
    allPages()
      .filter((path) => path !== 'CHANGELOG.md')
      .flatMap((path) => unknown(read(path)).map((name) => `${path}: ${name}`)),
    [],
  )
})

/** The record of changes, and the list of open work. */
const OTHER_PROSE = /^(?:CHANGELOG|docs\/progress)\.md$/

test('pages are written without the phrases that the house has retired', () => {
  assert.deepEqual(retiredPhrases('`told` "told"\nis told\n```\ntold\n```'), [
    '2 “told”: report, notify, inform, receive, distinguish',
  ])
  const written = allPages().filter((path) => !OTHER_PROSE.test(path) && !read(path).includes('<!-- Written by'))
  assert.ok(written.length > 60)
  assert.deepEqual(
    written.flatMap((path) => retiredPhrases(read(path)).map((found) => `${path}:${found}`)),
    [],
  )
})

/** Words that people search the documentation for, each with a page that has it in its title or its first lines. */
const SEARCHED = [
  ...['CORS', 'rate limit', 'quota', 'canary', 'load balancing', 'health check', 'retries', 'circuit breaker', 'cache'],
  ...['GitOps', 'backup', 'restore', 'upgrade', 'RBAC', 'WebSocket', 'gRPC', 'troubleshooting', 'mock', 'validate'],
  ...['OpenAPI', 'JWT', 'Keycloak', 'Entra ID', 'Auth0', 'mTLS', 'HMAC', 'basic authentication', 'API key', 'OAuth'],
  ...['SAML', 'LDAP', 'OpenID Connect', 'audit log', 'systemd', 'Docker', 'Kubernetes', 'Prometheus', 'Grafana', 'Tyk'],
  ...['OpenTelemetry', 'webhook', 'plugin', 'versions', 'headers', 'URL rewrite', 'transform', 'FAQ', 'MCP', 'DPoP'],
  ...['throttling', '2FA', 'MFA', 'passkey', 'SSO', 'IP allow list', 'block list', 'client IP', 'Helm'],
  ...['high availability', 'disaster recovery', 'rolling upgrade', 'environment variables', 'benchmark', 'SDK', 'JWKS'],
  ...['custom domain', 'certificate', 'access log', 'logging', 'request id', 'developer portal', 'analytics'],
  ...['migrate', 'secrets', 'timeout', 'production checklist', 'CLI', 'metrics', 'alert', 'glossary', 'reverse proxy'],
]

test('every word of the field that people search for is on a page and in the index', () => {
  const has = (text: string, word: string) => text.toLowerCase().includes(word.toLowerCase())
  const index = read('docs/README.md') + read('README.md')
  const heads = pages.filter((path) => path.includes('/docs/')).map((path) => readFileSync(path, 'utf8').slice(0, 700))
  assert.deepEqual(
    SEARCHED.filter((word) => !has(index, word)),
    [],
  )
  assert.deepEqual(
    SEARCHED.filter((word) => !heads.some((head) => has(head, word))),
    [],
  )
})

test('every word of A to Z is on the page that it leads to', () => {
  const rows = [...section(read('docs/README.md'), 'A to Z').matchAll(/^\| (?!word|---)(.+?) \| (.+) \|$/gm)]
  assert.ok(rows.length > 30)
  const missing = rows.flatMap(([, words = '', links = '']) => {
    const texts = [...links.matchAll(LINK)].map(({ groups }) =>
      readFileSync(join(ROOT, 'docs', groups!.to!.split('#')[0]!), 'utf8').toLowerCase(),
    )
    assert.ok(texts.length > 0, words)
    return words.split(', ').filter((word) => !texts.some((text) => text.includes(word.toLowerCase())))
  })
  assert.deepEqual(missing, [])
})

function section(text: string, heading: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
}

test('every how-to page says what it is for, has an example, and what may go wrong', () => {
  const lacks = allPages()
    .filter((path) => path.startsWith('docs/how-to/'))
    .flatMap((path) => {
      const text = read(path)
      const parts: readonly (readonly [string, RegExp])[] = [
        ['a sentence below its title', /^# .+\n\n[A-Z]/],
        ['an example', /^ *```(?:sh|json)\b/m],
        ['a table of problems', /^\| problem \| cause and cure \|$/m],
        ['a link', /\]\((?:\.\.\/)?[\w/-]+\.md/],
      ]
      return parts.filter(([, part]) => !part.test(text)).map(([name]) => `${path} lacks ${name}`)
    })
  assert.deepEqual(lacks, [])
})

test('pages name APIs, paths, policies and clients of their own, so that one can follow another', () => {
  const NAMED = {
    API: /"info": \{\s*"id": "([^"]+)"/g,
    path: /"listenPath": \{ "value": "([^"]+)"|listenPath=(\/[^&'" ]+)/g,
    policy: /\/policies\b[^{\n]*\{\s*"id": "([^"]+)"/g,
    client: /"client_id": "([^"]+)"/g,
  }
  const places = new Map<string, Set<string>>()
  for (const page of allPages().filter((path) => /^docs\/(?:how-to|tutorials|start)\//.test(path))) {
    const blocks = printedBlocks(page)
    // Those that start the product give it a store of its own.
    if (blocks.some(({ mark }) => mark === 'server') && !page.startsWith('docs/start/')) continue
    for (const { script } of blocks.filter(({ mark }) => mark === ''))
      for (const [kind, pattern] of Object.entries(NAMED))
        for (const [, one, other] of script.matchAll(pattern)) {
          const name = `${kind} ${one ?? other}`
          places.set(name, (places.get(name) ?? new Set()).add(page))
        }
  }
  assert.ok(places.size > 60, String(places.size))
  assert.deepEqual(
    [...places].filter(([, on]) => on.size > 1).map(([name, on]) => [name, ...on]),
    [],
  )
})

test('commands on pages keep their data and their commits out of the clone of Gatehouse', () => {
  const SOURCES = new Set(['bench', 'bin', 'console', 'deploy', 'docs', 'examples', 'scripts', 'src', 'test'])
  const wrong = allPages()
    .filter((page) => page.startsWith('docs/'))
    .flatMap(printedBlocks)
    .filter(({ script }) => {
      const written = [...script.matchAll(/(?:SVC_STORAGE_PATH=|mkdir -p |dump -t )(?:\.\/)?([\w-]+)/g)]
      return (
        written.some(([, folder]) => SOURCES.has(folder!)) ||
        /\bgit (?:add|commit)\b|\bgit init(?: -q)?(?: -b \w+)? *(?:&|$)/m.test(script)
      )
    })
  assert.deepEqual(
    wrong.map(({ page, line }) => `${page}:${line}`),
    [],
  )
})

test('no page says a sentence twice in a row', () => {
  const twice = (text: string) => {
    const sentences = text.split(/(?<=\.)\s/)
    return sentences.filter((sentence, at) => sentence.length > 12 && sentence === sentences[at - 1])
  }
  assert.deepEqual(twice('It needs a key. It needs a key. Other.'), ['It needs a key.'], 'would be found')
  assert.deepEqual(
    pages.flatMap((path) => twice(readFileSync(path, 'utf8').replace(CODE_BLOCK, ''))),
    [],
  )
})

test('pages with commands say where they run, and what to do where somebody has set up already', () => {
  const lacks = allPages()
    .filter((path) => /^docs\/(?:how-to|tutorials)\//.test(path))
    .flatMap((path) => {
      const text = read(path)
      const blocks = printedBlocks(path)
      const run = blocks.filter(({ mark, script }) => mark === '' && /127\.0\.0\.1|data\//.test(script))
      const starts = blocks.some(({ mark }) => mark === 'server')
      return [
        ...(run.length > 0 && !starts && !text.includes('quick-start.md#1-start') ? [`${path} lacks the start`] : []),
        ...(/bin\/gatehouse bootstrap \w/.test(text) && !/installation that is\s+set up/.test(text)
          ? [`${path} lacks a word on installations that are set up`]
          : []),
      ]
    })
  assert.deepEqual(lacks, [])
})

test('places of the console that pages name are in its texts', () => {
  const texts = new Set(Object.values({ ...SHELL, ...AREAS }).map(String))
  const named = allPages().flatMap((page) =>
    [...read(page).matchAll(/\*\*([A-Z][\w -]*(?:, [A-Z][\w -]*)+)\*\*/g)].flatMap(([, place]) =>
      place!.split(', ').map((word) => ({ page, word })),
    ),
  )
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter(({ word }) => !texts.has(word)),
    [],
  )
})

test('every page that is written by hand is in the index of the documentation', () => {
  const index = ['docs/README.md', 'docs/adr/README.md'].map(read).join('')
  const isListed = (path: string) =>
    index.includes(`(${path.replace(/^docs\/(?:adr\/)?/, '')}`) || read(path).includes('<!-- Written by')
  assert.deepEqual(
    allPages().filter((path) => path.startsWith('docs/') && !path.endsWith('/README.md') && !isListed(path)),
    [],
  )
})

const COMMAND =
  'apply|backup|bootstrap|completion|diff|doctor|dump|explain|import|migrate-store|publish|restore|rotate-secret|settings|sync|validate'

test('commands are printed so that they run in a clone', () => {
  const bare = new RegExp(`(?<![\\w/.-])gatehouse (?:${COMMAND})\\b`)
  const lines = (text: string) => text.split('\n').filter((line) => bare.test(line))
  assert.deepEqual(lines('run gatehouse doctor\nbin/gatehouse doctor'), ['run gatehouse doctor'], 'would be found')
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).map((name) => join('src', String(name)))
  const printed = [
    ...pages.flatMap((path) => (readFileSync(path, 'utf8').match(CODE_BLOCK) ?? []).flatMap(lines)),
    ...sources
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => lines(read(path)).filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))),
  ]
  assert.deepEqual(printed, [])
})

test('calls that the pages of operation name are in the description of the API', () => {
  const { paths } = JSON.parse(read('docs/generated/openapi.json')) as { paths: Record<string, object> }
  const named = pages
    .filter((path) => path.includes('/operate/'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^\s`?]*)/g)])
  assert.ok(named.length >= 3)
  const unknown = named.filter(([, method = '', path = '']) => {
    const shape = (text: string) => text.replace(/\{\w+\}/g, '{}')
    const known = Object.keys(paths).filter((one) => shape(one) === shape(path))
    return !known.some((one) => method.toLowerCase() in paths[one]!)
  })
  assert.deepEqual(
    unknown.map(([call]) => call),
    [],
  )
})

test('the page of a restore quotes refusals that the program prints', () => {
  const quoted = [...read('docs/operate/restore.md').matchAll(/^\| (?:a|an|beside) .*?\|/gm)].flatMap(([cell]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  )
  assert.ok(quoted.length >= 8)
  const folders = ['src/process', 'src/store'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, String(name))),
  )
  const sources = folders
    .filter((path) => path.endsWith('.ts'))
    .map(read)
    .join('')
  assert.deepEqual(
    quoted.filter((text) => !sources.includes(text)),
    [],
  )
})

/** Links to files that are not there, and to headings that no page has. Other sites are not asked. */
function deadLinks(path: string, text: string): string[] {
  const links = [...text.replace(CODE_BLOCK, '').matchAll(LINK)].map((match) => match.groups!.to!)
  return links
    .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, text, link))
    .map((link) => `${relative(ROOT, path)}: ${link}`)
}

function leadsSomewhere(path: string, text: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const target = join(dirname(path), file)
  if (file !== '' && !existsSync(target)) return false
  if (heading === undefined) return true
  return headings(file === '' ? text : readFileSync(target, 'utf8')).includes(heading)
}

function headings(text: string): string[] {
  return [...text.replace(CODE_BLOCK, '').matchAll(/^#+ (.+)$/gm)].map((match) => {
    return match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  })
}

const records = readdirSync(join(ROOT, 'docs', 'adr')).filter((name) => name !== 'README.md')

test('every decision record is in the index, under its own title', () => {
  const index = read('docs/adr/README.md')
  assert.ok(records.length > 0)
  for (const name of records) {
    assert.match(name, /^\d{4}-[a-z0-9-]+\.md$/)
    const title = /^# (.+)$/m.exec(read(`docs/adr/${name}`))?.[1]
    assert.ok(index.includes(`[${title}](${name})`), `docs/adr/README.md lacks [${title}](${name})`)
  }
})

test('decision records are numbered from 1 without a gap', () => {
  assert.deepEqual(
    records.map((name) => Number(name.slice(0, 4))),
    records.map((_, i) => i + 1),
  )
})

test('every npm script that a page names is there, and every file of the project that it names', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const wrong = pages.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const named = [...text.matchAll(/`npm (?:run )?(start|test|[a-z]+(?::[a-z]+)?)`/g)].map((match) => match[1]!)
    const files = [...text.matchAll(/`((?:src|test|scripts|bin|bench|docs)\/[\w./-]+\.\w+)`/g)].map(
      (match) => match[1]!,
    )
    const missing = files.filter((name) => !existsSync(join(ROOT, name)))
    return [...named.filter((name) => !(name in scripts) && name !== 'ci' && name !== 'pack'), ...missing].map(
      (name) => `${relative(ROOT, path)}: ${name}`,
    )
  })
  assert.deepEqual(wrong, [])
})

test('the packages that run are all explained in the record of dependencies, and no others', () => {
  const manifests = ['package.json', 'console/package.json', 'test/package.json'].map(
    (name) => JSON.parse(read(name)) as Record<string, Record<string, string>>,
  )
  const record = read(`docs/adr/${records.find((name) => name.includes('dependencies'))}`)
  const explained = [...record.matchAll(/^\| (`[^|]+`) \|/gm)]
    .flatMap((match) => match[1]!.split(', '))
    .map((name) => name.slice(1, -1))
    .sort()
  const used = manifests.flatMap(({ dependencies, devDependencies = {} }) =>
    Object.keys({ ...dependencies, ...devDependencies }),
  )
  assert.deepEqual(explained, [...used].sort())
})

/** Change requests that a new contributor comes with, by words that the first cell of their row contains. */
const CHANGES = [
  ...[
    'rate limit algorithm',
    'authentication scheme',
    'field of a developer',
    'field of a policy',
    'a grant',
    'page of the console',
  ],
  ...[
    'a setting',
    'an error',
    'a store',
    'webhooks',
    'analytics dimension',
    'rename a label value',
    'a command',
    'a cookie',
  ],
  ...[
    'header on all answers',
    'a call of the dashboard',
    'a step',
    'kind of document',
    'a service',
    'a dependency',
    'a decision',
  ],
]

test('the table of CONTRIBUTING.md places every kind of change in existing files', () => {
  const table = /^\| to add \|[\s\S]*?\n\n/m.exec(read('CONTRIBUTING.md'))![0]
  const rows = table.trim().split('\n').slice(2)
  const cells = rows.map((row) => row.split(' | ')[0]!)
  assert.deepEqual(
    CHANGES.filter((change) => !cells.some((cell) => cell.includes(change))),
    [],
  )
  // `<name>` is any name: what is before it must be there, and something must have that form.
  const named = [...table.matchAll(/`((?:src|console|test|examples|docs)\/[\w./<> -]*)`/g)].map((match) => match[1]!)
  assert.ok(named.length > 30)
  assert.deepEqual(
    [...new Set(named)].filter((path) => !hasForm(path)),
    [],
  )
})

/** True when a file or folder has this path, whatever its `<name>`s are; equal ones are equal. */
function hasForm(path: string): boolean {
  const names: string[] = []
  const form = path
    .split(/(<[^>]*>)/)
    .map((part) => {
      if (!part.startsWith('<')) return part.replace(/[.\\^$*+?()[\]{}|]/g, '\\$&')
      if (names.includes(part)) return `\\${names.indexOf(part) + 1}`
      names.push(part)
      return '([\\w-]+)'
    })
    .join('')
  const pattern = new RegExp(`^${form}$`)
  return [...filesBelow(path.slice(0, path.indexOf('/')))].some((file) => pattern.test(file))
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`)
}
