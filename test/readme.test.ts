import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { printedCommands, ROOT, runShell } from './worlds/docs/printed.ts'

const PAGE = 'docs/start/quick-start.md'
const TEXT = readFileSync(join(ROOT, PAGE), 'utf8')

/** The output of the calls, as the page shows it. */
const PROMISED = [...TEXT.matchAll(/^```text\n((?:\d{3}\n)+)```/gm)].flatMap((match) => match[1]!.trim().split('\n'))

async function serve(
  t: TestContext,
  cwd: string,
): Promise<{ port: string; child: ChildProcess; ended: Promise<number | null> }> {
  const env = { ...process.env, SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0', SVC_GW_ACCESSLOG: 'false' }
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const port = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
      const found = /curl http:\/\/127\.0\.0\.1:(\d+)\/sample\/hello/.exec(text)
      if (found !== null) resolve(found[1]!)
    })
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${text}`)))
  })
  return { port, child, ended }
}

test('the quick start works when it is pasted, and is still there after a restart', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-readme-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  const first = await serve(t, cwd)
  const script = `${printedCommands(PAGE).join('\n')}\necho "key $KEY"\n`
  // -S: silent curls still say why they failed; --max-time bounds each
  const prepared = script
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${first.port}`)
    .replace(/\bcurl /g, 'curl -sS --max-time 20 ')
  const { code, stdout, stderr } = await runShell(prepared, cwd)
  assert.equal(code, 0, stdout + stderr)
  const statuses = [...stdout.matchAll(/^(\d{3})$/gm)].map((match) => match[1]!)
  assert.ok(PROMISED.length >= 6)
  assert.deepEqual(statuses, PROMISED, stdout)
  assert.match(stdout, /"path": "\/hello"/)
  assert.doesNotMatch(stdout, /"warnings"/, 'what the page creates gives no reason to warn')
  assert.match(stdout, /^# (?:HELP|TYPE) /m)

  first.child.kill('SIGTERM')
  assert.equal(await first.ended, 0)
  const second = await serve(t, cwd)
  const key = /^key (.+)$/m.exec(stdout)![1]!
  const answer = await fetch(`http://127.0.0.1:${second.port}/svc/apis/billing`, {
    headers: { 'X-Svc-Authorization': secret(cwd) },
  })
  assert.notEqual(answer.status, 404)
  const called = await fetch(`http://127.0.0.1:${second.port}/billing/hello`, { headers: { Authorization: key } })
  assert.notEqual(called.status, 401)
  assert.notEqual(called.status, 403)
  // three calls were admitted before the restart, this one is the fourth
  assert.equal(called.headers.get('x-ratelimit-remaining'), '96')
  second.child.kill('SIGTERM')
  assert.equal(await second.ended, 0)
})

function secret(cwd: string): string {
  return (JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8')) as { gateway_secret: string }).gateway_secret
}
