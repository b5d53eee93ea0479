import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Command } from '../../../src/cli/commands/command.ts'
import { runCommand } from '../../../src/cli/commands/commands.ts'
import { MOVE_COMMANDS } from '../../../src/cli/moves/move-commands.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import type { Answer } from '../base/client.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../dashboard/harness.ts'

/** The exit status of a command, and its output. */
export interface Ran {
  readonly status: number | undefined
  readonly out: string
  readonly err: string
}

/** An installation: a dashboard and a gateway over one embedded store, with separate ids. */
export interface Environment {
  readonly dashboard: TestDashboard
  readonly gateway: TestGateway
  readonly admin: TestUser
  readonly clock: FakeClock
  /** Where its store is; undefined = in memory. */
  readonly folder: string | undefined
  /** A call of its administrator. @throws Error unless it is answered with 200 */
  ask(method: string, path: string, body?: unknown): Promise<JsonObject>
  /** The same, for any response. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** A command about it, as its administrator. */
  run(command: string, ...options: string[]): Promise<Ran>
  runAs(user: TestUser, command: string, ...options: string[]): Promise<Ran>
}

/** Settings by their environment names, of the dashboard and of the gateway. */
export interface EnvironmentOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly gatewayEnv?: Readonly<Record<string, string>>
  readonly onDisk?: boolean
}

let hours = 0

/** Starts an installation; its storage ids are those of another time than the one before. */
export async function startEnvironment(
  t: TestContext,
  { env = {}, gatewayEnv = {}, onDisk = false }: EnvironmentOptions = {},
): Promise<Environment> {
  const clock = new FakeClock(1_700_000_000_000 + 3_600_000 * hours++)
  const folder = onDisk ? folderFor(t) : undefined
  const store =
    folder === undefined ? openMemoryStore({ clock }) : await openStore({ path: folder, log: silentLog, clock })
  const dashboard = await startTestDashboard({ store, clock, env, parts: { sealKey: Buffer.alloc(32, 7) } })
  const gateway = await startTestGateway({ store, clock, env: gatewayEnv })
  t.after(async () => {
    await gateway.close()
    await dashboard.close()
    await store.close()
  })
  const admin = await dashboard.admin()
  const call: Environment['call'] = (method, path, body) =>
    dashboard.call(method, path, { as: admin, ...(body !== undefined && { body }) })
  const runAs: Environment['runAs'] = (user, command, ...options) =>
    runLine([command, '-d', `http://127.0.0.1:${dashboard.port}/`, '-s', user.key, ...options])
  return {
    ...{ dashboard, gateway, admin, clock, folder, call, runAs },
    async ask(method, path, body) {
      const answer = await call(method, path, body)
      if (answer.status !== 200 && answer.status !== 201)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer.json as JsonObject
    },
    run: (command, ...options) => runAs(admin, command, ...options),
  }
}

let last: Promise<unknown> = Promise.resolve()

/** Runs a command line in this process. One at a time: its output cannot be separated otherwise. */
export function runLine(argv: readonly string[], env: NodeJS.ProcessEnv = {}, rows = MOVE_COMMANDS): Promise<Ran> {
  const ran = last.then(() => captured(argv, env, rows))
  last = ran.catch(() => {})
  return ran
}

async function captured(argv: readonly string[], env: NodeJS.ProcessEnv, rows: readonly Command[]): Promise<Ran> {
  const { log, error } = console
  const [out, err]: string[][] = [[], []]
  console.log = (line: unknown) => void out!.push(String(line))
  console.error = (line: unknown) => void err!.push(String(line))
  try {
    const status = await runCommand(argv, env, rows)
    return { status, out: out!.join('\n'), err: err!.join('\n') }
  } finally {
    console.log = log
    console.error = error
  }
}

/** A folder that goes with the test. */
export function folderFor(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-moves-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

/** Every file below a folder, by its path, with its text. */
export function filesIn(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = names.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(dir.length + 1), readFileSync(path, 'utf8')] as const
  })
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Changes a file of JSON. */
export function editFile(dir: string, file: string, edit: (body: JsonObject) => unknown): void {
  const path = join(dir, file)
  const body = JSON.parse(readFileSync(path, 'utf8')) as JsonObject
  const edited = edit(body) ?? body
  writeFileSync(path, `${JSON.stringify(edited, null, 2)}\n`)
}

/** A pair of keys in PEM files: for whom secrets are sealed, and who opens them. */
export function keyPair(t: TestContext): { readonly recipient: string; readonly identity: string } {
  const dir = folderFor(t)
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const [recipient, identity] = [join(dir, 'moves.pub'), join(dir, 'moves.key')]
  writeFileSync(recipient, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(identity, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { recipient, identity }
}
