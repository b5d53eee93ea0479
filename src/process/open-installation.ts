import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '../errors/fault.ts'
import { readInstallation } from '../publish/organisations/installation.ts'
import type { Documents } from '../store/ports/ports.ts'
import { SECRETS_FILE } from '../store/secrets/secret-file.ts'
import { createPrivateFile, folderPaths } from '../store/sqlite/connection/folder.ts'

/** There from before the secrets are made until a first start is done, so that one that was cut short can be repeated. */
const MARK = 'first-start'
/** Kinds that an installation of an older version, which has no document of itself, has some of. */
const KINDS = ['organisation', 'user', 'api', 'policy']

/** State of an installation in its data folder. */
export interface InstallationState {
  /** True until its first start is done. */
  readonly isNew: boolean
  /** The first start is done. */
  done(): void
}

/**
 * Tells a first start from one whose store was lost: beside the secrets of an installation an empty store is none to begin in, since
 * the first visitor would become its administrator. @throws Fault `store_lost`, `data_folder_unwritable`
 */
export async function openInstallationState(folder: string, documents: Documents): Promise<InstallationState> {
  const mark = join(folder, MARK)
  if (!existsSync(mark)) {
    const hasSecrets = existsSync(join(folder, SECRETS_FILE))
    // Looked at last: another process of this folder may have made both meanwhile.
    if (!(await isEmpty(documents))) return { isNew: false, done: () => {} }
    if (hasSecrets) throw lost(folder, 'the store is empty')
    createPrivateFile(mark)
  }
  return { isNew: true, done: () => rmSync(mark, { force: true }) }
}

/** The same for a database file that is missing, before an empty one is made in its place. @throws Fault `store_lost` */
export function checkDatabaseFile(folder: string): void {
  const { database } = folderPaths(folder)
  const begun = existsSync(join(folder, SECRETS_FILE)) && !existsSync(join(folder, MARK))
  if (begun && !existsSync(database)) throw lost(folder, `${database} is missing`)
}

/**
 * Takes the secrets of an installation whose store was lost out of the way, so that the next start is a first one. Answers what they
 * are called now; undefined where there were none. @throws Fault `setting_invalid` where the store is not empty
 */
export async function moveSecretsAside(folder: string, documents: Documents, now: Date): Promise<string | undefined> {
  if (!(await isEmpty(documents)))
    throw fault(
      'setting_invalid',
      '--new is for an empty store, and this one holds an installation: take it away first, or start without --new',
    )
  rmSync(join(folder, MARK), { force: true })
  const secrets = join(folder, SECRETS_FILE)
  if (!existsSync(secrets)) return undefined
  const kept = `${secrets}.${stampOf(now)}`
  renameSync(secrets, kept)
  return kept
}

/** Takes a database whose rows were deleted out of the way: the same name with the time behind it. Answers the new name. */
export function setDatabaseAside(folder: string, now: Date): string {
  const { database } = folderPaths(folder)
  const kept = `${database}.${stampOf(now)}`
  for (const end of ['-wal', '-shm', '']) if (existsSync(database + end)) renameSync(database + end, kept + end)
  return kept
}

const stampOf = (now: Date) => now.toISOString().replace(/[:.]/g, '-')

async function isEmpty(documents: Documents): Promise<boolean> {
  if ((await readInstallation({ documents })) !== undefined) return false
  for (const kind of KINDS) if ((await documents.list(kind, { limit: 1 })).total > 0) return false
  return true
}

function lost(folder: string, what: string) {
  const secrets = join(folder, SECRETS_FILE)
  return fault(
    'store_lost',
    `${what}, but ${secrets} belongs to an installation: put the last backup of the store back, or start with --new to begin again (npm start -- --new)`,
  )
}
