// A lock between processes: a folder that holds one file, named after the process that has the lock.
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const POLL_MS = 200
/** A folder without a file: its maker is between two system calls, or died there. */
const EMPTY_MS = 10_000
/** After this long a holder counts as dead, even if its process id exists. */
const LONGEST_MS = 15 * 60_000

/**
 * Runs `work` while holding the lock; waits for another holder that lives. A dead holder's lock is taken over by renaming
 * its file, which succeeds for one only. `work` may name a child whose life also counts (`alsoHeldBy`): if this process
 * is killed, the child must have ended before another begins.
 */
export async function withLock(folder, work) {
  const mine = join(folder, `${process.pid}@${hostname()}`)
  let told = false
  while (!tryTake(folder, mine)) {
    if (!told) process.stderr.write(`gatehouse: waiting for another set-up (${folder})\n`)
    told = true
    await wait(POLL_MS)
  }
  try {
    return await work({ alsoHeldBy: (pid) => fs.writeFileSync(mine, String(pid)) })
  } finally {
    fs.rmSync(mine, { force: true })
    ignoring(['ENOENT', 'ENOTEMPTY'], () => fs.rmdirSync(folder))
  }
}

function tryTake(folder, mine) {
  const made = ignoring(['EEXIST'], () => fs.mkdirSync(folder) ?? true)
  // ENOENT: it took us so long that another process removed the empty folder
  if (made) return ignoring(['ENOENT'], () => fs.writeFileSync(mine, '') ?? true) === true
  const holder = ignoring(['ENOENT'], () => fs.readdirSync(folder)[0])
  if (holder === undefined) return removeIfAbandoned(folder)
  const file = join(folder, holder)
  if (holder !== basename(mine) && isHeld(file)) return false
  return (
    ignoring(['ENOENT'], () => {
      fs.renameSync(file, mine)
      fs.writeFileSync(mine, String(process.pid)) // also makes it as young as its new holder
      return true
    }) === true
  )
}

function removeIfAbandoned(folder) {
  const age = ignoring(['ENOENT'], () => Date.now() - fs.statSync(folder).mtimeMs) ?? 0
  if (age > EMPTY_MS) ignoring(['ENOENT', 'ENOTEMPTY'], () => fs.rmdirSync(folder))
  return false
}

function isHeld(file) {
  const found = ignoring(['ENOENT'], () => ({ text: fs.readFileSync(file, 'utf8'), at: fs.statSync(file).mtimeMs }))
  if (found === undefined || Date.now() - found.at > LONGEST_MS) return false
  const [pid, host] = basename(file).split('@')
  if (host !== hostname()) return true // another machine or container: only time can tell
  return isAlive(Number(pid)) || (found.text !== '' && isAlive(Number(found.text)))
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The result of `work`, or undefined when it fails with one of these codes. */
function ignoring(codes, work) {
  try {
    return work()
  } catch (error) {
    if (!codes.includes(error.code)) throw error
    return undefined
  }
}
