import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../contract/adapters.ts'
import { printedCommands, ROOT, runShell } from '../worlds/docs/printed.ts'
import { startPrintedCommand } from '../worlds/docs/printed-command.ts'
import { Browser } from '../worlds/flows/form-browser.ts'
import { startProduct } from '../worlds/flows/product.ts'

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('the tutorial of an OAuth app works as it is printed, from sign-in to the API', async (t) => {
  const cwd = temporaryFolder(t)
  for (const folder of ['scripts', 'examples', 'node_modules']) symlinkSync(join(ROOT, folder), join(cwd, folder))
  const product = await startProduct(t, cwd)
  const appPort = await freePort()
  const at = (text: string) =>
    text.replaceAll('127.0.0.1:8080', `127.0.0.1:${product.port}`).replaceAll(':8092', `:${appPort}`)
  const [login = '', api = '', register = '', app = '', signIn = '', ...others] =
    printedCommands('docs/tutorials/oauth-app.md').map(at)
  assert.deepEqual(others, [])
  const loginPage = await startPrintedCommand(t, login.replace('PORT=8091', 'PORT=0'), cwd, /login page +(http:\S+)/)
  const script = api.replace('http://127.0.0.1:8091/login', new URL('/login', loginPage).href)
  const made = await runShell(
    `${script}\n${register}\n${app}\nprintf 'client %s %s\\n' "$CLIENT_ID" "$CLIENT_SECRET"`,
    cwd,
  )
  assert.equal(made.code, 0, made.stdout + made.stderr)
  const [, id = '', secret = ''] = /^client (\S+) (\S+)$/m.exec(made.stdout) ?? []
  const command = signIn.replace('"$CLIENT_ID"', id).replace('"$CLIENT_SECRET"', secret)
  const start = await startPrintedCommand(t, command.replace(/^node /, `${process.execPath} `), cwd, /open (http:\S+)/)

  const browser = new Browser()
  const page = await browser.open(start)
  const consent = await browser.submit(page, { name: 'ada', password: 'engine-1843' })
  const back = await browser.submit(consent, { decision: 'allow' })
  assert.equal(back.text, 'the API answered 200')
})
