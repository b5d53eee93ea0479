import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')
/** Logs, build results and virtual environments; not committed, and used again by the next run. */
export const OUTPUT = join(ROOT, 'test-output', 'clients')

const READY_WITHIN_MS = 60_000
// Module state: what has to end with this process.
const running = new Set<ChildProcess>()

/** A program that serves until this process ends. */
export interface ServerCommand {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Matches its output once it takes connections. */
  readonly ready: RegExp
}

/** Starts a server, with its output in a file. Answers the match of `ready`. @throws Error when it ends before, or is not ready within a minute */
export function startServer({ name, command, env = {}, cwd = ROOT, ready }: ServerCommand): Promise<RegExpExecArray> {
  mkdirSync(OUTPUT, { recursive: true })
  const file = createWriteStream(join(OUTPUT, `${name}.log`))
  const [program = '', ...words] = command
  const child = spawn(program, words, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error(`${name} is not ready: ${text}`)), READY_WITHIN_MS)
    const hear = (chunk: Buffer) => {
      file.write(chunk)
      if (text.length > 20_000) return
      text += chunk
      const match = ready.exec(text)
      if (match === null) return
      clearTimeout(timer)
      resolve(match)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('error', reject)
    child.on('exit', (code) => {
      running.delete(child)
      clearTimeout(timer)
      reject(new Error(`${name} ended with ${code}: ${text}`))
    })
  })
}

/** Runs a program to its end, and gives each line of its standard output to `onLine`. Answers its exit status, and the end of what it wrote to standard error. */
export function runProgram(
  command: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>>; timeoutMs: number },
  onLine: (line: string) => void = () => {},
): Promise<{ status: number | null; complaint: string }> {
  const [program = '', ...words] = command
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  })
  running.add(child)
  let rest = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-4000)
  })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: null, complaint: error.message }))
    child.on('close', (status) => {
      running.delete(child)
      if (rest !== '') onLine(rest)
      resolve({ status, complaint })
    })
  })
}

/** Ends all that was started. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
