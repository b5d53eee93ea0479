import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '../../..')

/** A block of shell commands on a page. */
export interface PrintedBlock {
  readonly page: string
  readonly line: number
  /** '' = run as printed; `server` = starts the product; `no-run` and a reason = parsed alone. */
  readonly mark: string
  readonly script: string
  /** The output that the page shows right behind the block. */
  readonly output: string | undefined
}

const BLOCK = /^( *)```sh(.*)\n([\s\S]*?)^\1```(?:\n+^\1```text\n([\s\S]*?)^\1```)?/gm

/** Every page of the project that users or contributors read, below its root. */
export function allPages(): string[] {
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`)
  return [...readdirSync(ROOT), ...below('docs'), ...below('examples')]
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
    .sort()
}

/** The blocks of a page. `page`: below the root of the project. */
export function printedBlocks(page: string): PrintedBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(BLOCK)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    mark: match[2]!.trim(),
    script: unindented(match[3]!, match[1]!.length),
    output: match[4] === undefined ? undefined : unindented(match[4], match[1]!.length),
  }))
}

/** The scripts of a page without a mark, as a reader pastes them. */
export function printedCommands(page: string): string[] {
  return printedBlocks(page)
    .filter(({ mark }) => mark === '')
    .map(({ script }) => script)
}

function unindented(text: string, by: number): string {
  return text.replace(new RegExp(`^ {${by}}`, 'gm'), '')
}

/** Runs commands in a shell that ends at the first that fails. */
export function runShell(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('sh', ['-e'], { cwd, env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      printed[name] += chunk
    })
  child.stdin.end(script)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...printed })))
}
