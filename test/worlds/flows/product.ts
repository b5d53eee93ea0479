import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Answer, call } from '../base/client.ts'
import { leaveServers } from '../base/ending.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The product as a separate process, as in production. */
export interface Product {
  readonly port: number
  readonly dashboardPort: number
  /** Its output before it was ready, line by line. */
  readonly printed: readonly string[]
  /** The secret, found where the print says it is. */
  readonly secret: string
  call: (path: string, headers?: Record<string, string>) => Promise<Answer>
  svc(method: string, path: string, body?: unknown): Promise<Answer>
  /** Sends SIGTERM and waits for the end. Answers the exit status. */
  stop(): Promise<number | null>
  signal(name: NodeJS.Signals): void
  /** The exit status once it has ended, null after SIGKILL. */
  readonly ended: Promise<number | null>
  /** Everything printed so far, errors too. */
  output(): string
}

/** A command in front of that of the product, which it becomes. */
function before({ openFiles, command = [] }: { openFiles?: number; command?: readonly string[] }): readonly string[] {
  return openFiles === undefined ? command : [...command, 'sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh']
}

/** Starts `bin/gatehouse` in a folder, with its own ports and at most `openFiles` file descriptors, by a `command` that becomes it. @throws Error with the output when it ends before it is ready */
export async function startProduct(
  t: TestContext,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  bounds: { readonly openFiles?: number; readonly command?: readonly string[] } = {},
): Promise<Product> {
  const limited = [...before(bounds), process.execPath, join(ROOT, 'bin/gatehouse')]
  const child = spawn(limited[0]!, limited.slice(1), {
    cwd,
    env: { ...process.env, SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(async () => {
    try {
      await leaveServers(t)
    } finally {
      child.kill('SIGKILL')
    }
  })
  let text = ''
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const ready = new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk
      if (/curl -i \S+protected/.test(text)) resolve()
    }
    child.stdout!.on('data', look)
    child.stderr!.on('data', look)
    void ended.then((code) => reject(new Error(`the product ended with ${code}: ${text}`)))
  })
  await ready
  const printed = text.split('\n')
  const port = portOf(printed, 'gateway')
  const secret = secretNamedIn(printed)
  return {
    port,
    dashboardPort: portOf(printed, 'dashboard'),
    printed,
    secret,
    call: (path, headers = {}) => call(port, path, { headers }),
    svc: (method, path, body) =>
      call(port, path, {
        method,
        headers: { 'x-svc-authorization': secret },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    stop: () => stop(child, ended),
    signal: (name) => void child.kill(name),
    ended,
    output: () => text,
  }
}

function stop(child: ChildProcess, ended: Promise<number | null>): Promise<number | null> {
  child.kill('SIGTERM')
  return ended
}

function portOf(printed: readonly string[], name: string): number {
  const line = printed.find((each) => each.startsWith(`${name} `)) ?? ''
  const found = /https?:\/\/127\.0\.0\.1:(\d+)/.exec(line)
  if (found === null) throw new Error(`no address of the ${name} in: ${printed.join('\n')}`)
  return Number(found[1])
}

/** Follows `secret     "gateway_secret" in /path/secrets.json (...)`. */
function secretNamedIn(printed: readonly string[]): string {
  const line = printed.find((each) => each.startsWith('secret ')) ?? ''
  const found = /"(\w+)" in (.+\.json)/.exec(line)
  if (found === null) throw new Error(`no place of the secret in: ${printed.join('\n')}`)
  return (JSON.parse(readFileSync(found[2]!, 'utf8')) as Record<string, string>)[found[1]!]!
}
