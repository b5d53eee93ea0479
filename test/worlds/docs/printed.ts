import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '../../..')

/** The blocks of commands of a page, as a reader pastes them. `page`: below the root of the project. */
export function printedCommands(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1]!)
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
