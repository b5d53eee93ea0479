import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { partOf } from './house/layers.ts'
import { RULES } from './house/rules.ts'
import { readTree, type SourceFile } from './house/tree.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'examples', 'console']
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
}

const tree = readTree(ROOT, FOLDERS)

test('the tree was read', () => {
  assert.ok(tree.some(({ path }) => path === 'src/config/load.ts'))
  const load = tree.find(({ path }) => path === 'src/config/load.ts')!
  assert.ok(load.imports.some(({ target }) => target === 'src/errors/fault.ts'))
})

for (const rule of RULES) {
  test(`the house: ${rule.name}`, () => assert.deepEqual(rule.check(tree, MANIFEST), []))
}

const numbered = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${folder}/a${i}.ts`, '']))

/** For each rule: files of a bad tree, and a piece of each line that the rule must answer, in order. */
const BAD: Record<string, { files: Record<string, string>; found: string[] }[]> = {
  "a vendor's word is compared and renamed in one place": [
    { files: { 'src/gateway/a.ts': `if (config.compat.vendor_aliases.includes(word)) go()` }, found: ['a.ts:1'] },
    { files: { 'src/gateway/a.ts': `if (word !== 'svc') go()` }, found: ['a.ts:1'] },
    { files: { 'src/cli/a.ts': `const name = \`x-\${word}-api-gateway\`` }, found: ['a.ts:1'] },
  ],
  'parts import only what is below them, and packages stay within their fence': [
    { files: { 'src/errors/a.ts': `import { x } from '../model/b.ts'` }, found: ['errors must not import model'] },
    {
      files: { 'src/gateway/a.ts': `import { x } from '../dashboard/b.ts'` },
      found: ['gateway must not import dashboard'],
    },
    {
      files: { 'src/dashboard/a.ts': `import type { X } from '../wire/b.ts'` },
      found: ['dashboard must not import wire'],
    },
    {
      files: { 'src/gateway/a.ts': `const x = await import('../store/sqlite/b.ts')` },
      found: ['must not import store/sqlite'],
    },
    {
      files: { 'src/cli/a.ts': `new Worker(new URL('../store/sqlite/b.ts', import.meta.url))` },
      found: ['must not import store/sqlite'],
    },
    {
      files: { 'src/cli/moves/a.ts': `import type { X } from '../../dashboard/b.ts'` },
      found: ['over HTTP alone, and must not import dashboard'],
    },
    {
      files: { 'src/store/memory/a.ts': `import { x } from '../sqlite/b.ts'` },
      found: ['store/memory must not import store/sqlite'],
    },
    {
      files: { 'src/gateway/a.ts': `import {\n  x,\n} from '../config/load.ts'` },
      found: ['gateway must not import config'],
    },
    { files: { 'src/config/a.ts': `export { x } from '../model/b.ts'` }, found: ['config must not import model'] },
    { files: { 'src/gateway/a.ts': `import { x } from '../publish/b.ts'` }, found: ['only in gateway/admin'] },
    { files: { 'src/other/a.ts': `import { x } from '../model/b.ts'` }, found: ['does not know: other'] },
    { files: { 'src/model/a.ts': `import { x } from '../../test/b.ts'` }, found: ['reaches out of src'] },
    { files: { 'src/gateway/a.ts': `import fastify from 'fastify'` }, found: ['must not use fastify'] },
    { files: { 'src/gateway/a.ts': `import x from '@fastify/cookie'` }, found: ['must not use fastify'] },
    {
      files: { 'src/publish/a.ts': `import type { DatabaseSync } from 'node:sqlite'` },
      found: ['must not use node:sqlite'],
    },
    { files: { 'src/gateway/a.ts': `import pino from 'pino'` }, found: ['must not use pino'] },
    { files: { 'src/model/a.ts': `import { compare } from 'bcryptjs'` }, found: ['must not use bcryptjs'] },
    { files: { 'src/dashboard/a.ts': `import x from 'nodemailer'` }, found: ['must not use nodemailer'] },
    { files: { 'src/model/a.ts': `import { TOTP } from 'otpauth'` }, found: ['must not use otpauth'] },
    {
      files: { 'src/dashboard/a.ts': `import x from '@simplewebauthn/server/helpers'` },
      found: ['must not use @simplewebauthn/server'],
    },
  ],
  'src imports only dependencies': [
    {
      files: { 'src/model/a.ts': `import { x } from 'undici'\nimport 'ajv/dist/2020.js'` },
      found: ['src/model/a.ts:1 imports undici'],
    },
  ],
  'no imports in circles': [
    {
      files: {
        'src/model/a.ts': `import type { B } from './b.ts'\nexport type A = B`,
        'src/model/b.ts': `import type { C } from './c.ts'\nexport type B = C`,
        'src/model/c.ts': `import type { A } from './a.ts'\nexport type C = A`,
      },
      found: ['src/model/a.ts -> src/model/b.ts -> src/model/c.ts -> src/model/a.ts'],
    },
    { files: { 'src/model/a.ts': `import './a.ts'` }, found: ['src/model/a.ts -> src/model/a.ts'] },
  ],
  'no barrels': [
    { files: { 'src/model/all.ts': `export { a } from './a.ts'` }, found: ['src/model/all.ts only passes on'] },
    { files: { 'src/model/all.ts': `export * from './a.ts'\nexport const b = 1` }, found: ['src/model/all.ts'] },
    { files: { 'src/model/index.ts': `export const a = 1` }, found: ['src/model/index.ts'] },
  ],
  'values in addresses of calls are encoded': [
    { files: { 'console/src/api/a.ts': `call(\`/api/keys/\${id}/detail\`)` }, found: ['console/src/api/a.ts:1 puts'] },
    { files: { 'console/src/api/a.ts': `call(\`/api/keys/\${encodeURIComponent(id)}/\${pathOf(span)}\`)` }, found: [] },
  ],
  'every text of the console is shown': [
    {
      files: {
        'console/src/texts/a.ts':
          "export const A = {\n  'a.one': '1',\n  'a.two': '2',\n  'a.twoOne': '2',\n  'b.x': '3',\n}",
        'console/src/pages/a.ts': `say('a.two')\nsay(\`b.\${kind}\`)`,
      },
      found: ['nothing shows a.one'],
    },
  ],
  'files of at most 500 lines': [
    { files: { 'src/model/a.ts': 'x\n'.repeat(501), 'src/model/b.ts': 'x\n'.repeat(500) }, found: ['has 501 lines'] },
  ],
  'names of files and folders say what is in them': [
    { files: { 'src/utils/a.ts': '' }, found: ['"utils" says nothing'] },
    { files: { 'test/helpers.ts': '' }, found: ['"helpers" says nothing'] },
    { files: { 'src/model/key-manager.ts': '' }, found: ['"key-manager" says nothing'] },
  ],
  'names of files are kebab-case': [
    {
      files: {
        'src/store/secrets/secretFile.ts': '',
        'console/src/parts/Pager.tsx': '',
        'src/model/keys/key_rules.ts': '',
      },
      found: ['Pager.tsx is not', 'key_rules.ts is not', 'secretFile.ts is not'],
    },
  ],
  'at most 30 files directly in a folder, 40 of tests': [
    { files: numbered('src/model/keys', 31), found: ['src/model/keys has 31 files, more than 30'] },
    { files: numbered('console/src/parts', 31), found: ['console/src/parts has 31 files'] },
    { files: numbered('test/model/keys', 41), found: ['test/model/keys has 41 files, more than 40'] },
    {
      files: { ...numbered('src/model/keys', 30), ...numbered('test/model/keys', 40), ...numbered('bench', 50) },
      found: [],
    },
  ],
  'a folder holds files or folders, not both': [
    {
      files: {
        'src/model/key.ts': '',
        'src/model/keys/key.ts': '',
        'test/model/keys/a/key.test.ts': '',
        'test/model/b.ts': '',
      },
      found: ['src/model/key.ts lies flat', 'test/model/b.ts lies flat'],
    },
    {
      files: { 'src/main.ts': '', 'src/model/keys/key.ts': '', 'test/house.test.ts': '', 'test/house/rules.ts': '' },
      found: [],
    },
  ],
  'names in code say what they name': [
    {
      files: { 'src/model/a.ts': 'export class KeyManager {}\n  const pathUtil = 1\n// interface XImpl' },
      found: ['a.ts:1 KeyManager', 'a.ts:2 pathUtil'],
    },
  ],
  'names use the words of the field': [
    {
      files: {
        'src/model/sight.ts':
          'export const sightOf = 1\nexport interface ApiSeen {}\nconst standing = 1\nfunction heldBytes() {}\n  const told = 1',
        'src/oauth/tries.ts': 'export class Tries {}',
        'console/src/pages/a.tsx': 'export function useTold() {}',
        'test/told.ts': 'export const told = 1',
      },
      found: [
        'a.tsx:1 useTold',
        'sight.ts sight',
        'sight.ts:1 sightOf',
        'sight.ts:2 ApiSeen',
        'sight.ts:3 standing',
        'sight.ts:5 told',
        'tries.ts tries',
        'tries.ts:1 Tries',
      ],
    },
  ],
  'comments and texts are plain English': [
    {
      files: {
        'src/model/a.ts': [
          '/** Whoever asks is told of it. */',
          "const why = 'there is no such key'",
          'const f = (a: number) => a // goes on with the next',
          " * `stood` is code, and 'told' is one word",
          "import { told } from './told.ts'",
        ].join('\n'),
        'console/src/texts/a.ts': "  'keys.hint': 'It begins anew.',",
        'test/model/a.test.ts': "// Somebody else.\ntest('whoever', () => {})",
      },
      found: [
        'a.ts:1 “anew”',
        'a.ts:1 “Whoever”',
        'a.ts:2 “there is no such”',
        'a.ts:3 “goes on”',
        'a.ts:4 “told”',
        'a.test.ts:1 “Somebody”',
      ],
    },
  ],
  'files that comments name exist': [
    {
      files: {
        'src/model/a.ts': '/** Body: `B` of model/old/b.ts. */',
        'src/model/c.ts': '// As `d.ts` does, see model/a.ts.\nconst e = 1 // of `gone.ts`',
        'src/model/d.ts': "const path = 'model/none.ts'",
      },
      found: ['a.ts:1 names model/old/b.ts', 'c.ts:2 names gone.ts'],
    },
  ],
  'comments begin with the thing that they are about': [
    {
      files: {
        'src/model/a.ts': [
          '/** What a caller sends. */',
          '/**',
          ' * What is stored of it.',
          ' */',
          '  // What came too late.',
          '// Two lines, of which the second begins so.',
          '// What follows is the rest.',
          '/** The value. What it means is in the table. */',
          "const what = 'What'",
        ].join('\n'),
        'examples/a.ts': '// What?',
      },
      found: ['a.ts:1 ', 'a.ts:3 ', 'a.ts:5 '],
    },
  ],
  'titles of tests are one clause': [
    {
      files: {
        'test/model/a.test.ts': [
          `test('${'a'.repeat(91)}', () => {})`,
          `test('${'a'.repeat(90)}', () => {})`,
          `for (const name of names) test(\`${'a'.repeat(85)}\${nameOf(name)}\`, () => {})`,
          `  await t.test(\n    "${'it is so, '.repeat(10)}",\n  )`,
          `pattern.test('${'a'.repeat(91)}')`,
        ].join('\n'),
      },
      found: ['a.test.ts:1 ', 'a.test.ts:4 '],
    },
  ],
  'an exported name of src has one declaration': [
    {
      files: {
        'src/model/a.ts': 'export interface Outcome {}\nexport const list = 1',
        'src/gateway/b.ts': 'export type Outcome = 1\nexport const list = 2',
        'src/oauth/c.ts': 'interface Outcome {}',
      },
      found: ['Outcome is declared in src/gateway/b.ts and src/model/a.ts'],
    },
  ],
  'modules of src hold no state, or say why': [
    {
      files: {
        'src/dashboard/a.ts': [
          'const throttles = new WeakMap<object, Throttle>()',
          'let last: Promise<unknown> | undefined',
          'export let count = 0',
          'const known: Map<string, number> = new Map()',
          "known.set('a', 1)",
          'const queue: string[] = []',
          "queue.push('a')",
          'const limiter = new AttemptLimiter(systemClock, { limit: 1 })',
          'const slots = new Int32Array(8)',
          'slots[0] = 1',
          '/** One for each store. */',
          'const mailers =',
          '  new WeakMap<object, Mailer>()',
        ].join('\n'),
      },
      found: [
        'a.ts:1 throttles',
        'a.ts:2 last',
        ':3 count',
        ':4 known',
        ':6 queue',
        ':8 limiter',
        ':9 slots',
        ':12 mailers',
      ],
    },
    {
      files: {
        'src/dashboard/a.ts': [
          "const NAMES = new Set(['a'])",
          'const BY_NAME = new Map(TABLE)',
          'const UTF8 = new TextDecoder()',
          "const LIST = ['a']",
          'function f() {',
          '  const own = new Map()',
          '  let n = 0',
          '}',
          '/** Module state: a cache of immutable values. */',
          'const compiled = new WeakMap<object, Step>()',
          '// Module state: memory of this thread.',
          'const drawn = Buffer.alloc(8)',
          'let drawnFrom = 0',
        ].join('\n'),
        'test/a.ts': 'let n = 0',
      },
      found: [],
    },
  ],
  'relative imports keep their ending': [
    {
      files: { 'src/model/a.ts': `import { b } from './b'\nimport { c } from './c.js'` },
      found: ['./b without its ending', './c.js without its ending'],
    },
  ],
  'no default exports': [{ files: { 'src/model/a.ts': 'export default 1' }, found: ['a.ts:1 has a default export'] }],
  'what the product exports is used by it': [
    {
      files: {
        'src/model/a.ts':
          'export const alone = 1\nexport const tried = 2\nexport const own = 3\nexport const taken = own',
        'src/model/b.ts': `import { taken } from './a.ts'\ntaken`,
        'test/a.test.ts': `import { own, tried } from '../src/model/a.ts'\nown + tried`,
      },
      found: ['exports alone, which no other file imports', 'exports tried, which only tests use'],
    },
  ],
  'nothing acts on the text of an error': [
    {
      files: {
        'src/model/a.ts':
          "if (error.message.includes('x')) return\nif (toFault(error).message.startsWith('x')) return\nif (/x/.test(error.message)) return\nif (error.message === 'x') return\nconst shown = error.message === text",
        'src/store/redis/a.ts': "if (error.message.startsWith('NOSCRIPT')) return",
      },
      found: ['a.ts:1', 'a.ts:2', 'a.ts:3', 'a.ts:4'],
    },
  ],
  'exported functions of src say what they do': [
    {
      files: { 'src/model/a.ts': 'export function f(): void {}\n/** Says. */\nexport function g(): void {}' },
      found: ['a.ts:1 f has'],
    },
    {
      files: {
        'src/model/a.ts': 'export const f = (a: number) => a\n\nexport const g = async () => {}\nexport const h = 1',
      },
      found: ['a.ts:1 f', 'a.ts:3 g'],
    },
    {
      files: {
        'src/model/a.ts': '/** Says. */\nexport function f(a: string): void\nexport function f(a: number): void',
      },
      found: [],
    },
  ],
}

function readBad(t: TestContext, files: Record<string, string>): SourceFile[] {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-house-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return readTree(root, FOLDERS)
}

for (const rule of RULES) {
  test(`a bad tree breaks: ${rule.name}`, (t) => {
    const cases = BAD[rule.name] ?? []
    assert.ok(cases.length > 0, 'a rule that nothing breaks is no rule')
    for (const { files, found } of cases) {
      const answered = rule.check(readBad(t, files), MANIFEST)
      assert.equal(answered.length, found.length, answered.join('\n'))
      for (const [i, piece] of found.entries()) assert.ok(answered[i]!.includes(piece), answered[i]!)
    }
  })
}

test('what is allowed breaks no rule', (t) => {
  const files = readBad(t, {
    'src/gateway/apis/a.ts': `import type { Config } from '../../config/schema.ts'\nimport { type Config } from '../../config/schema.ts'`,
    'src/gateway/admin/b.ts': `import { publish } from '../../publish/c.ts'`,
    'src/gateway/apis/c.ts': `import type { Parts } from '../../publish/c.ts'\n/* import { x } from '../../dashboard/x.ts' */`,
    'src/compose.ts': `import { open } from './store/sqlite/open.ts'\nnew Worker(new URL('./dashboard/thread.ts', import.meta.url))`,
    'src/store/sqlite/v.ts': `import { counters } from '../memory/counters.ts'`,
    'src/store/sqlite/w.ts': `import { DatabaseSync } from 'node:sqlite'\nnew Worker(new URL('./w.ts', import.meta.url))`,
    'src/config/version.ts': `new URL('../../package.json', import.meta.url)`,
    'src/process/log.ts': `import pino from 'pino'`,
  })
  for (const rule of RULES) assert.deepEqual(rule.check(files, MANIFEST), [], rule.name)
})

test('a file belongs to the part of its folder', () => {
  assert.equal(partOf('src/main.ts'), 'main')
  assert.equal(partOf('src/compose.ts'), 'compose')
  assert.equal(partOf('src/store/ports/ports.ts'), 'ports')
  assert.equal(partOf('src/store/prepare/feed.ts'), 'store')
  assert.equal(partOf('src/store/hits/sample-sums.ts'), 'store')
  assert.equal(partOf('src/store/sqlite/deep/x.ts'), 'store/sqlite')
  assert.equal(partOf('src/model/apis/read/read.ts'), 'model')
})
