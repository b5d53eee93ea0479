import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type Fault, fault } from '../../../errors/fault.ts'
import { isOutOfSpace } from './faults.ts'

/** Where the parts of a data folder are. */
export interface FolderPaths {
  readonly folder: string
  readonly database: string
  readonly lock: string
  readonly pid: string
}

/** Names the files of the data folder. */
export function folderPaths(folder: string): FolderPaths {
  return {
    folder,
    database: join(folder, 'gatehouse.db'),
    lock: join(folder, 'lock'),
    pid: join(folder, 'pid'),
  }
}

/**
 * Makes the data folder where it is missing (mode 0700; one that is there keeps its mode) and proves by a durable write that
 * this process can use it. @throws Fault `data_folder_unwritable` naming path, user and setting, `store_full`
 */
export function prepareFolder(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = openSync(probe, 'w', 0o600)
    try {
      writeSync(file, 'probe')
      fsyncSync(file)
    } finally {
      closeSync(file)
      rmSync(probe, { force: true })
    }
  } catch (error) {
    if (isOutOfSpace(error)) throw fault('store_full', `no space left in the data folder ${folder}`, error)
    throw unwritable(folder, error)
  }
}

/** Makes an empty file for SQLite, mode 0600; its side files take that mode over. One that is there is not touched. */
export function createPrivateFile(path: string): void {
  try {
    // 'wx' never opens a file that is there: closing it again would drop the locks that SQLite holds on it in this process.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return
    if (isOutOfSpace(error)) throw fault('store_full', `no space left for ${path}`, error)
    throw unwritable(path, error)
  }
}

/** The fault that says who may not write what, and which setting moves it. */
export function unwritable(path: string, cause: unknown): Fault {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const hint = 'set storage.path (SVC_STORAGE_PATH) to a folder that can be written'
  return fault('data_folder_unwritable', `user ${userName()} cannot write ${path} (${reason}); ${hint}`, cause)
}

/** Whether a file of a data folder is there. @throws Fault `data_folder_unreadable` where this user may not know */
export function fileExists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return false
    throw unreadable(path, error)
  }
}

/** The fault that says who may not read what. */
export function unreadable(path: string, cause: unknown): Fault {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  return fault(
    'data_folder_unreadable',
    `user ${userName()} cannot read ${path} (${reason}): run this as the user of the server`,
    cause,
  )
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that no user has.
    return `with id ${process.getuid?.() ?? 'unknown'}`
  }
}
