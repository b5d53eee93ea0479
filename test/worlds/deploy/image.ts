import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

/** An instruction of the Dockerfile with its words in one line. */
export interface Instruction {
  readonly name: string
  readonly words: string
}

/** The instructions of `deploy/Dockerfile`, by stage. */
export function stages(): Instruction[][] {
  const text = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
  const found: Instruction[][] = []
  for (const line of lines) {
    const [, name, words] = /^([A-Z]+) (.*)$/.exec(line)!
    if (name === 'FROM') found.push([])
    found.at(-1)!.push({ name: name!, words: words! })
  }
  return found
}

/** Whether Docker sends a file of the project to the build: the last line of `.dockerignore` that matches it or a folder above decides. */
export function inContext(path: string): boolean {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  const above = path.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'))
  let sent = true
  for (const line of lines) {
    if (line === '' || line.startsWith('#')) continue
    const back = line.startsWith('!')
    const pattern = patternOf(back ? line.slice(1) : line)
    if (above.some((each) => pattern.test(each))) sent = back
  }
  return sent
}

/** As Docker reads them: a star is anything but a slash, in names that begin with a dot too; two with a slash for any folders. */
function patternOf(glob: string): RegExp {
  const source = glob.replaceAll('.', '\\.').replaceAll('**/', '(?:[^]+/)?').replace(/\*/g, '[^/]*')
  return new RegExp(`^${source}$`)
}
