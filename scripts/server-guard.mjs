// node scripts/server-guard.mjs SPEC: runs one server in its own folder for the holder of the other end of its standard
// input. When that closes, however the holder ends, the server is killed and the folder deleted.
// SPEC is JSON: {folder, before: [[program, ...arguments]], run: [program, ...arguments], env, uid, gid, ready}.
// Takes lines of JSON: {"do": "halt", "signal": "SIGINT"}, {"do": "resume"}. Says lines of JSON: {"is": "up" | "down" | "failed"}.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const LAST_WORDS = 4_000

const spec = JSON.parse(process.argv[2])
const options = { cwd: spec.folder, env: { ...spec.env }, uid: spec.uid, gid: spec.gid }
let server
let ended = Promise.resolve()
let stopping = false

const say = (words) => process.stdout.write(`${JSON.stringify(words)}\n`)

function prepare() {
  for (const [program, ...words] of spec.before) {
    const { status, stderr, error } = spawnSync(program, words, { ...options, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
  }
}

/** Resolves when the server takes connections. */
function start() {
  const [program, ...words] = spec.run
  const ready = new RegExp(spec.ready)
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    server = child
    ended = once(child, 'close').catch(() => {})
    let text = ''
    const hear = (piece) => {
      text = (text + piece).slice(-LAST_WORDS)
      if (ready.test(text)) resolve()
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      reject(new Error(`${program} ended (${signal ?? code}): ${text}`))
      if (server === child) server = undefined
    })
  })
}

async function halt(signal) {
  server?.kill(signal)
  await ended
  say({ is: 'down' })
}

async function resume() {
  await start()
  say({ is: 'up' })
}

async function end() {
  if (stopping) return
  stopping = true
  // PostgreSQL ends its children itself, and at once, at SIGQUIT.
  server?.kill(spec.end)
  const timer = setTimeout(() => server?.kill('SIGKILL'), 3_000)
  await ended
  clearTimeout(timer)
  rmSync(spec.folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

// Ctrl-C reaches the whole terminal: the holder's end is what counts.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.stdout.on('error', () => {})
const lines = createInterface({ input: process.stdin })
lines.on('close', end)
lines.on('line', (line) => {
  const { do: what, signal } = JSON.parse(line)
  const done = what === 'halt' ? halt(signal) : resume()
  done.catch((error) => say({ is: 'failed', text: error.message }))
})

try {
  prepare()
  await resume()
} catch (error) {
  say({ is: 'failed', text: error.message })
}
