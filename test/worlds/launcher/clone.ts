import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

export const ROOT = join(import.meta.dirname, '../../..')

/** Variables by which an npm above us would reach into the npm that a test starts. */
const FROM_NPM = /^npm_/i
const LAUNCHER_FILES = ['package.json', 'package-lock.json', '.npmrc', 'bin', 'scripts']

/** A folder that goes away with the test. */
export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-launcher-'))
  t.after(() => rmSync(path, { recursive: true, maxRetries: 5, retryDelay: 100 }))
  return path
}

/** The files that git would clone, with uncommitted ones, and nothing that is ignored. */
export function freshClone(t: TestContext): string {
  const to = folder(t)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const name of listed.toString().split('\0')) {
    if (name !== '' && existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(to, name))
  }
  return to
}

/** Only what the launcher is made of, with `main` as the server. */
export function bareClone(t: TestContext, main: string): string {
  const to = folder(t)
  for (const name of LAUNCHER_FILES) cpSync(join(ROOT, name), join(to, name), { recursive: true })
  mkdirSync(join(to, 'src'))
  writeFileSync(join(to, 'src', 'main.ts'), main)
  return to
}

/**
 * Puts an npm on a separate PATH. `script` is its shell program; `$REAL_NODE` is the package of the pinned Node,
 * which it may copy into place.
 */
export function fakeNpm(t: TestContext, script: string): NodeJS.ProcessEnv {
  const bin = folder(t)
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  return { ...environment(), PATH: `${bin}${delimiter}${process.env.PATH}`, REAL_NODE: runtimePackage() }
}

/** The folder of the package that carries the Node which runs this test. */
export function runtimePackage(): string {
  return dirname(dirname(process.execPath))
}

/** As if set-up had just been done: the pinned Node in place, and the stamp of this lock file and of these packages. */
export function installed(t: TestContext, main: string, packages: 'all' | 'start' = 'all'): string {
  const to = bareClone(t, main)
  mkdirSync(join(to, 'node_modules'))
  symlinkSync(runtimePackage(), join(to, 'node_modules', runtimePackage().split('/').at(-1)!))
  const stamp = `import { createHash } from 'node:crypto'; import { readFileSync } from 'node:fs'
    const hash = createHash('sha256').update(readFileSync('package-lock.json'))
    process.stdout.write(hash.update(process.platform + '-' + process.arch).digest('hex') + ' ${packages}')`
  const args = ['--input-type=module', '-e', stamp]
  writeFileSync(join(to, 'node_modules', '.installed'), execFileSync(process.execPath, args, { cwd: to }))
  return to
}

/** The environment of a person at a shell: nothing of the npm or the tests around us. */
export function environment(): NodeJS.ProcessEnv {
  const env = { ...process.env }
  for (const name of Object.keys(env)) if (FROM_NPM.test(name) || name.startsWith('NODE_')) delete env[name]
  const folders = (env.PATH ?? '').split(delimiter).filter((path) => !path.startsWith(join(ROOT, 'node_modules')))
  return { ...env, PATH: folders.join(delimiter) }
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** Resolves once standard output and error together hold the text. Rejects when the process ends before. */
  saw(text: string): Promise<void>
  readonly ended: Promise<Ended>
}

/** Starts a process, whose group is killed with the test. */
export function start(t: TestContext, file: string, args: string[], cwd: string, env = environment()): Running {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  t.after(() => killGroup(child))
  const text = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      text[name] += chunk
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  })
  const saw = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!(text.stdout + text.stderr).includes(wanted)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without "${wanted}": ${text.stdout}${text.stderr}`)))
    })
  return { child, saw, ended }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // the group is gone
  }
}
