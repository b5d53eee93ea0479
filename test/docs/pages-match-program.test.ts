import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nextRequestIdLine, requestIdOf } from '../../src/gateway/record/request-id.ts'
import { allPages, ROOT } from '../worlds/docs/printed.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('the changelog has each entry once', () => {
  const entries = read('CHANGELOG.md').split(/^(?=- |#)/m)
  const seen = new Set<string>()
  const doubled = entries.filter(
    (entry) => entry.startsWith('- ') && (seen.has(entry.trim()) || !seen.add(entry.trim())),
  )
  assert.ok(seen.size > 50)
  assert.deepEqual(doubled, [])
})

const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map((name) => join('src', String(name)))
  .filter((path) => path.endsWith('.ts'))
  .map(read)
  .join('')

test('messages of a failed start are quoted as the program prints them', () => {
  const table = read('docs/troubleshooting.md').split('## It does not start')[1]!
  const quoted = [...table.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  )
  assert.ok(quoted.length >= 6)
  assert.deepEqual(
    quoted.filter((text) => !sources.includes(text)),
    [],
  )
})

test('texts of refusals in troubleshooting are those of the program', () => {
  const rows = [...read('docs/troubleshooting.md').matchAll(/^\| [1-5]\d\d[\d, ]* \| (.*?) \|/gm)]
  const texts = rows.flatMap(([, cell = '']) => cell.split(/; |, (?=[A-Z])/).map((text) => text.replaceAll('`', '')))
  assert.ok(texts.length >= 40)
  assert.deepEqual(
    texts.filter((text) => !sources.includes(text)),
    // The client of a 499 is gone, and gets no text.
    ['only in logs'],
  )
})

test('the page about health explains every part of /hello', () => {
  const [, union = ''] = read('src/model/nodes/health.ts').match(/export type Part =([^\n]*(?:\n {2}\|.*)*)/)!
  const parts = [...union.matchAll(/'(\w+)'/g)].map(([, part = '']) => part)
  assert.ok(parts.length >= 9)
  const page = read('docs/operate/health.md')
  assert.deepEqual(
    parts.filter((part) => !page.includes(`| \`${part}\` |`)),
    [],
  )
})

test('request ids on pages have the form that the gateway makes', () => {
  const form = (id: string) => id.replace(/[0-9a-f]/g, (digit, at) => (at === 14 ? digit : 'x'))
  const shown = allPages().flatMap((page) =>
    [...read(page).matchAll(/(?:form of a UUID, `|"request_id": ?"|"?x-request-id"?: "?)([\w-]{8,})/gi)].map(
      ([, id = '']) => id,
    ),
  )
  assert.ok(shown.length >= 2)
  const expected = form(requestIdOf(nextRequestIdLine()))
  assert.deepEqual(
    shown.filter((id) => form(id) !== expected),
    [],
  )
})

test('no printed definition has a port of the dashboard as its upstream', () => {
  const pages = allPages().filter((page) => /"url": *"https?:\/\/(?:127\.0\.0\.1|localhost):3000\b/.test(read(page)))
  assert.deepEqual(pages, [])
})

test('commands that read a secret take it from the environment, else from its file', () => {
  const lines = allPages().flatMap((path) => read(path).match(/^\w+=.*_secret".*data\/secrets\.json.*$/gm) ?? [])
  assert.ok(lines.length > 20)
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'))
  try {
    mkdirSync(join(cwd, 'data'))
    const secrets = { admin_secret: 'of the file', gateway_secret: 'of the file' }
    writeFileSync(join(cwd, 'data/secrets.json'), JSON.stringify(secrets, undefined, 2))
    const given = { SVC_GW_SECRET: 'given', SVC_DB_ADMINSECRET: 'given' }
    const printed = (line: string, env: NodeJS.ProcessEnv) =>
      execFileSync('sh', ['-c', `${line}\nprintf %s "$${line.slice(0, line.indexOf('='))}"`], {
        cwd,
        env,
        encoding: 'utf8',
      })
    const { PATH } = process.env
    for (const line of new Set(lines))
      assert.deepEqual([printed(line, { PATH }), printed(line, { PATH, ...given })], ['of the file', 'given'], line)
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
