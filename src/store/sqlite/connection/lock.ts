import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { fault } from '../../../errors/fault.ts'
import { isBusy } from './faults.ts'
import { createPrivateFile, type FolderPaths, fileExists, unwritable } from './folder.ts'

/** Holds the data folder for this process until `release`. */
export interface FolderLock {
  release(): void
}

/** Module state: locks of the operating system belong to the process. A connection that is collected as garbage would drop its lock. */
const held = new Set<DatabaseSync>()

/**
 * Takes the data folder for this process alone. The lock is one of the operating system, taken through SQLite (Node has no
 * file locks) on a file that stays empty, so the death of a process releases it and leaves nothing to repair. The
 * file next to it names the holder, for the message only.
 * @throws Fault `data_folder_locked` naming the other process, `data_folder_unwritable`
 */
export function lockFolder(paths: FolderPaths): FolderLock {
  createPrivateFile(paths.lock)
  const db = openLock(paths)
  try {
    // Nothing is ever committed; the journal in memory keeps even the attempt off the disk.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
  } catch (error) {
    db.close()
    if (isBusy(error)) throw fault('data_folder_locked', `${paths.folder} is in use by ${readHolder(paths.pid)}`, error)
    throw unwritable(paths.lock, error)
  }
  held.add(db)
  writeHolder(paths.pid)
  return {
    release() {
      if (!held.delete(db)) return
      rmSync(paths.pid, { force: true })
      db.close()
    },
  }
}

/** Who holds a data folder now; undefined when nobody does. Takes nothing. @throws Fault `data_folder_unwritable` */
export function folderHolder(paths: FolderPaths): string | undefined {
  if (!fileExists(paths.lock)) return undefined
  const db = openLock(paths)
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE; ROLLBACK')
    return undefined
  } catch (error) {
    if (isBusy(error)) return readHolder(paths.pid)
    throw unwritable(paths.lock, error)
  } finally {
    db.close()
  }
}

function openLock(paths: FolderPaths): DatabaseSync {
  try {
    return new DatabaseSync(paths.lock, { timeout: 0 })
  } catch (error) {
    throw unwritable(paths.lock, error)
  }
}

function writeHolder(path: string): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${process.pid} ${hostname()}\n`, { mode: 0o600 })
    renameSync(draft, path)
  } catch {
    // The lock itself holds. A full disk must not keep a store from being read.
    rmSync(draft, { force: true })
  }
}

function readHolder(path: string): string {
  try {
    const [pid, host] = readFileSync(path, 'utf8').trim().split(' ')
    return `process ${pid} on ${host}`
  } catch {
    return 'another process'
  }
}
