// node scripts/run.mjs test/clients/runner/main.ts [--all] [--write] [LANGUAGE ...]: starts the product and runs the programs of foreign
// clients against it. `--all`: a missing runtime is a failure. `--write`: keeps what passed in test/clients/results.json.
// The last line is `N passed, N failed`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromDebian } from '../../../scripts/debian.mjs'
import { serveMcp } from '../../worlds/flows/mcp-world.ts'
import { freePort } from '../../worlds/servers/free-port.ts'
import { startDesk } from './desk.ts'
import { type Gatehouse, REGISTRATION_TOKEN, startGatehouse } from './gatehouse.ts'
import { LANGUAGES, type Language } from './languages.ts'
import { endAll, OUTPUT, ROOT, runProgram, startServer } from './process.ts'
import { type ClientCase, differences, nameOf, writeResults } from './results.ts'
import { digestOfBytes, startUpstream } from './upstream.ts'

const PREPARE_MS = 420_000
const RUN_MS = 300_000
const DOWNLOAD_BYTES = 64 * 1024 * 1024

const words = process.argv.slice(2)
const options = words.filter((word) => word.startsWith('--'))
const named = words.filter((word) => !options.includes(word)).map((word) => word.toLowerCase())
const passed: ClientCase[] = []
const failures: string[] = []

const known = LANGUAGES.map(({ name }) => name.toLowerCase())
refuse('language', named, known)
refuse('option', options, ['--all', '--write'])

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    endAll()
    process.exit(1)
  })
}

try {
  await runAll()
} catch (error) {
  fail(`the run: ${error instanceof Error ? error.message : error}`)
} finally {
  endAll()
}
console.log(`${passed.length} passed, ${failures.length} failed`)
process.exit(failures.length === 0 && passed.length > 0 ? 0 : 1)

/** Ends this process where one of the words is not known: a run of nothing, or without what was asked for, must not look like a good one. */
function refuse(what: string, words: readonly string[], known: readonly string[]): void {
  const unknown = words.filter((word) => !known.includes(word))
  if (unknown.length === 0) return
  console.error(`no ${what} ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exit(2)
}

async function runAll(): Promise<void> {
  const chosen = LANGUAGES.filter(({ name }) => named.length === 0 || named.includes(name.toLowerCase()))
  const ready: Language[] = []
  for (const language of chosen) if (await isReady(language)) ready.push(language)
  if (ready.length === 0) return
  const gatehouse = await startGatehouse()
  const world = await openWorld(gatehouse)
  const servers: string[] = []
  for (const language of ready) servers.push(...(await startServers(gatehouse, language)))
  for (const language of ready) await runLanguage(language, { ...world, upstreams: servers })
  const names = ready.map(({ name }) => name)
  if (words.includes('--write')) writeResults(names, passed)
  else if (failures.length === 0) for (const line of differences(names, passed)) fail(line)
}

/** Installs and builds. False when the runtime is not there, or a step fails. */
async function isReady({ name, runtime, probes, debian = {}, prepare, folder, env = {} }: Language): Promise<boolean> {
  const step = { cwd: folder, env, timeoutMs: PREPARE_MS }
  for (const probe of probes) {
    const { status } = await runProgram(probe, { ...step, cwd: ROOT })
    if (status === 0) continue
    return skip(name, `${runtime} is not installed`)
  }
  for (const [wanted, file] of Object.entries(debian)) {
    const find = () => (existsSync(file) ? file : undefined)
    const trouble = await fromDebian(wanted, find).then(
      () => '',
      (error: Error) => error.message,
    )
    if (trouble !== '') return skip(name, trouble)
  }
  const begun = performance.now()
  for (const command of prepare) {
    const lines: string[] = []
    const { status, complaint } = await runProgram(command, step, (line) => lines.push(line))
    if (status === 0) continue
    fail(`${name}: ${command.join(' ')} ended with ${status}: ${[...lines.slice(-20), complaint].join('\n')}`)
    return false
  }
  console.log(`${name} is built (${seconds(begun)})`)
  return true
}

/** Leaves a language out; with `--all` that is a failure. */
function skip(name: string, why: string): false {
  if (words.includes('--all')) fail(`${name}: ${why}`)
  else console.log(`skipped: ${name}, because ${why}`)
  return false
}

/** The programs learn about everything from one JSON file. */
async function openWorld(gatehouse: Gatehouse): Promise<Readonly<Record<string, unknown>>> {
  const upstream = await startUpstream()
  await gatehouse.open('files', `http://127.0.0.1:${upstream.http1}`)
  await gatehouse.open('files2', `h2c://127.0.0.1:${upstream.http2}`)
  const mcp = await serveMcp()
  const desk = await startDesk(gatehouse, `http://127.0.0.1:${upstream.http1}`, mcp.url)
  const { http, https, dashboard, ca } = gatehouse
  return {
    http,
    https,
    ca,
    dashboard,
    credential: await gatehouse.administrator('grace'),
    credentials: await credentials(gatehouse),
    certificate: readFileSync(ca, 'utf8'),
    desk: desk.url,
    redirect: desk.redirect,
    registration_token: REGISTRATION_TOKEN,
    download_bytes: DOWNLOAD_BYTES,
    download_sha256: digestOfBytes(DOWNLOAD_BYTES),
  }
}

/** Administrators of organisations of their own: generated clients do the same tasks beside each other. */
async function credentials(gatehouse: Gatehouse): Promise<Readonly<Record<string, string>>> {
  const found = new Map<string, string>()
  for (const name of ['oapi-codegen', 'java', 'python', 'openapi-python-client'])
    found.set(name, await gatehouse.administrator(name))
  return Object.fromEntries(found)
}

async function startServers(gatehouse: Gatehouse, { folder, env, servers = {} }: Language): Promise<string[]> {
  for (const [name, { command, ready, scheme = 'http', listenPath }] of Object.entries(servers)) {
    const port = String(await freePort())
    const filled = command.map((word) => word.replaceAll('PORT', port))
    await startServer({ name, command: filled, cwd: folder, ready, ...(env && { env }) })
    await gatehouse.open(name, `${scheme}://127.0.0.1:${port}`, listenPath)
  }
  return Object.keys(servers).filter((name) => name !== 'grpc')
}

async function runLanguage({ name, run, folder, env = {} }: Language, world: object): Promise<void> {
  const file = join(OUTPUT, 'world.json')
  writeFileSync(file, JSON.stringify(world))
  const begun = performance.now()
  const step = { cwd: folder, env: { ...env, CLIENTS_WORLD: file }, timeoutMs: RUN_MS }
  const { status, complaint } = await runProgram(run, step, (line) => note(name, line))
  if (status !== 0) fail(`${name}: the program ended with ${status}: ${complaint}`)
  console.log(`${name} has run (${seconds(begun)})`)
}

/** A line of a program: `{"client": ..., "flow": ..., "failed": ...}`, the last one only where it failed. Anything else is shown as it is. */
function note(language: string, line: string): void {
  let told: { client?: string; flow?: string; failed?: string } = {}
  try {
    told = JSON.parse(line) as typeof told
  } catch {
    // Not a case.
  }
  const { client, flow, failed } = told
  if (client === undefined || flow === undefined) {
    console.log(`  ${line}`)
    return
  }
  const one = { language, client, flow }
  if (failed !== undefined) {
    fail(`${nameOf(one)}: ${failed}`)
    return
  }
  passed.push(one)
  console.log(`✔ ${nameOf(one)}`)
}

function fail(what: string): void {
  failures.push(what)
  console.log(`failed: ${what}`)
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
