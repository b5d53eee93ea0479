import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type Product, startProduct } from '../flows/product.ts'
import { type PrintedBlock, printedBlocks, ROOT, runShell } from './printed.ts'

const MARK = '<<block>>'
/** A setting in front of the command that starts the product. */
const SETTING = /(?:^|\s)(SVC_\w+)=(?:'([^']*)'|(\S*))/g

/** A product that runs, and the ports that the page prints for it. */
interface PrintedServer {
  readonly product: Product
  readonly settings: Readonly<Record<string, string>>
  readonly gatewayPort: string
  readonly dashboardPort: string
}

/**
 * Runs all blocks of a page as a reader would: in a folder of its own, one after another in one shell, with a product started for each
 * block marked `server` (without one, as `npm start` does). Ports are those of these products. Compares what the blocks print with what
 * the page shows.
 */
export async function runPage(t: TestContext, page: string): Promise<void> {
  const blocks = printedBlocks(page)
  const cwd = temporaryFolder(t)
  for (const name of ['bin', 'deploy', 'examples', 'scripts', 'node_modules'])
    symlinkSync(join(ROOT, name), join(cwd, name))
  const starts = blocks.filter(({ mark }) => mark === 'server').map(({ script }) => settingsIn(script))
  const servers: PrintedServer[] = []
  for (const settings of starts.length === 0 ? [{}] : starts) servers.push(await startPrinted(t, cwd, settings))

  const run = blocks.filter(({ mark }) => mark === '')
  const script = run.map((block) => `printf '\\n${MARK}\\n'\n${block.script}`).join('\n')
  const { code, stdout, stderr } = await runShell(atPortsOf(servers, script), cwd, {
    ...process.env,
    ...environmentOf(servers[0]!),
  })
  assert.equal(code, 0, `${page}\n${stdout}${stderr}`)
  const printed = stdout.split(`\n${MARK}\n`).slice(1)
  for (const [i, block] of run.entries()) assertPrinted(printed[i] ?? '', block, stdout + stderr)
}

async function startPrinted(t: TestContext, cwd: string, settings: Record<string, string>): Promise<PrintedServer> {
  const { SVC_GW_LISTENPORT: gatewayPort = '8080', SVC_DB_LISTENPORT: dashboardPort = '3000', ...others } = settings
  // Breakers and turns of targets are of each gateway thread, and what pages print of them is that of one.
  const product = await startProduct(t, cwd, { SVC_GW_ACCESSLOG: 'false', SVC_GW_WORKERS: '1', ...others })
  return { product, settings: others, gatewayPort, dashboardPort }
}

/** The script with the ports of the running products. */
function atPortsOf(servers: readonly PrintedServer[], script: string): string {
  const ports = new Map(
    servers.flatMap(({ product, gatewayPort, dashboardPort }) => [
      [gatewayPort, product.port] as const,
      [dashboardPort, product.dashboardPort] as const,
    ]),
  )
  return (
    script
      .replace(/(?:127\.0\.0\.1|localhost):(\d+)/g, (address, port: string) =>
        ports.has(port) ? `127.0.0.1:${ports.get(port)}` : address,
      )
      // -S: silent curls still say why they failed; --max-time bounds each
      .replace(/\bcurl /g, 'curl -sS --max-time 20 ')
  )
}

/** Commands on the page find the product by the settings that it was started with. */
function environmentOf({ product, settings }: PrintedServer): Record<string, string> {
  return {
    ...settings,
    SVC_GW_LISTENPORT: String(product.port),
    SVC_DB_LISTENPORT: String(product.dashboardPort),
  }
}

/** Lines are compared without blanks at their ends; `…` on a page is any text. */
function assertPrinted(printed: string, { page, line, output }: PrintedBlock, whole: string): void {
  if (output === undefined) return
  const lines = (text: string) => text.trim().split(/[ \r]*\n/)
  const pattern = lines(output)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^\\n]*'))
    .join('\n')
  assert.match(lines(printed).join('\n'), new RegExp(`^${pattern}$`), `${page}:${line}\n${whole}`)
}

function settingsIn(script: string): Record<string, string> {
  return Object.fromEntries(
    [...script.matchAll(SETTING)].map(([, name, quoted, plain]) => [name!, quoted ?? plain ?? ''] as const),
  )
}
