// npm run build: writes dist/, the server as JavaScript, for publishing: Node strips no types inside node_modules.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main, ROOT, SetupError, setUp } from './setup.mjs'

const TSC = join('node_modules', 'typescript', 'bin', 'tsc')
/** How a thread names its module. The compiler rewrites imports only. */
const THREAD = /(new URL\('\.[^']+\.)ts(',\s*import\.meta\.url\))/g

await main(async () => {
  const node = await setUp({ all: true })
  const dist = join(ROOT, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const { status } = spawnSync(node, [TSC, '--project', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new SetupError('the sources do not compile')
  for (const name of readdirSync(dist, { recursive: true })) {
    if (!name.endsWith('.js')) continue
    const path = join(dist, name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(THREAD, '$1js$2'))
  }
})
