import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { tenThousandApis } from './apis.ts'
import { compareCaches } from './caches.ts'
import { cluster } from './cluster.ts'
import { consoleLoads } from './console.ts'
import { largeDashboard } from './dashboard.ts'
import { countingCost } from './hits.ts'
import { compareHttp2 } from './http2.ts'
import { millionKeys } from './keys.ts'
import { openapiChecks } from './openapi.ts'
import { largePortal } from './portal.ts'
import { LOAD_CORE, output } from './processes.ts'
import { compareProxies } from './proxies.ts'
import { machine, progress } from './report.ts'
import { share } from './sizes.ts'
import { issueTokens } from './tokens.ts'
import { compareDownloads, compareUploads } from './transfers.ts'

/**
 * `npm run bench [-- scenario ...]`: prints one report in Markdown to stdout, progress to stderr.
 * BENCH_SECONDS (length of a measured run, 4) and BENCH_ROUNDS (interleaved rounds, 5) change how long it takes. BENCH_SHARE (from
 * above 0 to 1) makes everything that is stored smaller: to see that a scenario works, not to measure.
 */
const SCENARIOS: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  proxies: (folder) => compareProxies({ folder, seconds, rounds }),
  http2: (folder) => compareHttp2({ folder, seconds, rounds }),
  uploads: (folder) => compareUploads({ folder, seconds, rounds }),
  downloads: (folder) => compareDownloads({ folder, seconds, rounds }),
  cache: (folder) => compareCaches({ folder, seconds, rounds }),
  apis10k: (folder) => tenThousandApis({ folder, seconds }),
  tokens: (folder) => issueTokens({ folder, seconds, rounds }),
  keys1m: (folder) => millionKeys({ folder, seconds }),
  hits: (folder) => countingCost({ folder, seconds, rounds }),
  portal: (folder) => largePortal({ folder }),
  dashboard: (folder) => largeDashboard({ folder, seconds, rounds }),
  console: (folder) => consoleLoads({ folder }),
  openapi: (folder) => openapiChecks({ folder, seconds, rounds }),
  cluster: (folder) => cluster({ folder, seconds, rounds }),
}
const NEEDED = { wrk: 'wrk', nginx: 'nginx', haproxy: 'haproxy', openssl: 'openssl', taskset: 'util-linux' }
const WITH_H2LOAD = new Set(['http2', 'uploads', 'openapi'])
/** A scenario that hangs is ended with the bench, and says so. */
const LONGEST_MS = 30 * 60_000

const seconds = positive('BENCH_SECONDS', 4)
const rounds = positive('BENCH_ROUNDS', 5)

function positive(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`)
  return value
}

/** The names of packages that these scenarios need and this machine lacks. */
function missing(names: readonly string[]): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const needed = names.some((name) => WITH_H2LOAD.has(name)) ? { ...NEEDED, h2load: 'nghttp2-client' } : NEEDED
  return Object.entries(needed)
    .filter(([command]) => !folders.some((folder) => existsSync(join(folder, command))))
    .map(([, name]) => name)
}

async function bench(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => SCENARIOS[name] === undefined)
  if (unknown.length > 0) throw new Error(`no scenario ${unknown}; there are: ${Object.keys(SCENARIOS).join(', ')}`)
  if (process.platform !== 'linux' || cpus().length < 2) throw new Error('the bench needs Linux and two cores')
  // Servers are often installed where ordinary users do not look.
  process.env.PATH = [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(delimiter)
  const needed = missing(names)
  if (needed.length > 0)
    throw new Error(`install ${needed.join(', ')} first (Debian: apt-get install ${needed.join(' ')})`)
  await output('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)])
  const smaller = share === 1 ? '' : ` Sizes are ${share} of what is wanted: these are not the numbers.`
  print(`Measured on: ${await machine()}.${smaller}`)
  for (const name of names) {
    progress(`scenario ${name}`)
    const folder = await mkdtemp(join(tmpdir(), `gatehouse-bench-${name}-`))
    const late = setTimeout(endLate, LONGEST_MS).unref()
    try {
      print(`\n${await SCENARIOS[name]!(folder)}`)
    } finally {
      clearTimeout(late)
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Each part as soon as it is there: what was measured is not lost when a later scenario fails. */
function print(part: string): void {
  process.stdout.write(`${part}\n`)
}

function endLate(): void {
  process.stderr.write('the bench takes too long and is ended\n')
  process.exit(1)
}

const asked = process.argv.slice(2)
try {
  await bench(asked.length > 0 ? asked : Object.keys(SCENARIOS))
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
  // Servers that still run would keep the process.
  process.exit(1)
}
