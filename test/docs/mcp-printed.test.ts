import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../contract/adapters.ts'
import { printedCommands, ROOT, runShell } from '../worlds/docs/printed.ts'
import { startPrintedCommand } from '../worlds/docs/printed-command.ts'
import { Browser } from '../worlds/flows/form-browser.ts'
import { McpApp, startMcpServer } from '../worlds/flows/mcp-world.ts'
import { startProduct } from '../worlds/flows/product.ts'

/** Where the app gets its code: a page of its own on this machine. */
async function startCallback(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.end('you may close this'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
}

test('the page about MCP servers works as it is printed, to the call of a tool', async (t) => {
  const cwd = temporaryFolder(t)
  for (const folder of ['scripts', 'examples']) symlinkSync(join(ROOT, folder), join(cwd, folder))
  const upstream = await startMcpServer(t)
  const product = await startProduct(t, cwd)
  const at = (text: string) => text.replaceAll('127.0.0.1:8080', `127.0.0.1:${product.port}`)
  const [login = '', add = '', look = '', ...others] = printedCommands('docs/tutorials/mcp.md').map(at)
  assert.deepEqual(others, [])
  const loginPage = await startPrintedCommand(t, login.replace('PORT=8091', 'PORT=0'), cwd, /login page +(http:\S+)/)
  const { port: loginPort } = new URL(loginPage)
  const script = add.replace('127.0.0.1:8091', `127.0.0.1:${loginPort}`).replace('http://127.0.0.1:3333', upstream.url)
  const { code, stdout, stderr } = await runShell(`${script}\n${look}`, cwd)
  assert.equal(code, 0, stdout + stderr)
  const lines = stdout.trim().split('\n')
  const url = `http://127.0.0.1:${product.port}/notes`
  assert.equal(lines.at(-3), '401', stdout)
  assert.deepEqual(JSON.parse(lines.at(-2)!).authorization_servers, [url])
  assert.equal(JSON.parse(lines.at(-1)!).registration_endpoint, `${url}/oauth/register`)

  const app = new McpApp('none', undefined, await startCallback(t))
  const client = await app.connect(new URL(`${url}/mcp`), async (sentTo) => {
    const browser = new Browser()
    const page = await browser.open(sentTo.href)
    assert.match(page.text, /to continue to <strong>Notes for agents/)
    const consent = await browser.submit(page, { name: 'ada', password: 'engine-1843' })
    assert.match(consent.text, /Notes for agents asks for access/)
    const back = await browser.submit(consent, { decision: 'allow' })
    assert.equal(back.text, 'you may close this')
    return new URL(back.url).searchParams.get('code')!
  })
  t.after(() => client.close())
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['list_notes'],
  )
  await client.callTool({ name: 'list_notes' })
  await assert.rejects(client.callTool({ name: 'delete_note' }), /Access to this tool has been disallowed/)
  assert.deepEqual(upstream.seen, ['list_notes'])
})
