import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { runPage } from '../worlds/docs/page-run.ts'
import { allPages, printedBlocks, ROOT } from '../worlds/docs/printed.ts'

/** Pages whose commands need more than a product in an empty folder, each with the test that runs them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/start/quick-start.md': 'test/readme.test.ts',
  'docs/operate/backup.md': 'test/docs/backup-printed.test.ts',
  'docs/operate/restore.md': 'test/docs/backup-printed.test.ts',
  'docs/operate/growing.md': 'test/flows/migrate-store.deep.test.ts',
  'docs/operate/health.md': 'test/flows/first-start.test.ts',
  'docs/operate/monitoring.md': 'test/flows/monitoring.test.ts',
  'docs/operate/rotation.md': 'test/flows/rotation.test.ts',
  'docs/tutorials/mcp.md': 'test/docs/mcp-printed.test.ts',
  'docs/tutorials/oauth-app.md': 'test/docs/oauth-app-printed.deep.test.ts',
}

const pages = allPages().filter(
  (page) => printedBlocks(page).some(({ mark }) => mark === '' || mark === 'server') && !(page in ELSEWHERE),
)

test('the tests that run the other pages name them', () => {
  for (const [page, file] of Object.entries(ELSEWHERE)) {
    const name = page.slice(page.lastIndexOf('/') + 1)
    const source = readFileSync(join(ROOT, file), 'utf8')
    assert.ok(source.includes(page) || source.includes(name.replace('.md', '')), `${file} runs ${page}`)
  }
})

test('there are pages whose commands are run', () => assert.ok(pages.length > 20))

/** Pages at the same time: most of their time is the start of a product. */
const AT_ONCE = 2

suite('commands run as printed', { concurrency: AT_ONCE }, () => {
  for (const page of pages) test(page, (t) => runPage(t, page))
})
