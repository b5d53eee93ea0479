import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import { type SealKeys, secretBytes } from '../model/secrets/secret.ts'
import { openSealKeys, readInstallation, sealHash } from '../publish/organisations/installation.ts'
import { resealStore } from '../publish/organisations/reseal.ts'
import type { Store } from '../store/ports/ports.ts'
import { openSecrets, SECRETS_FILE, type Secrets } from '../store/secrets/secret-file.ts'

const TELL_EVERY_MS = 10_000
const AGAIN_MS = 30_000

/**
 * The secrets of a process that starts. They are made only where no seal key is in use yet: other processes of the folder would take
 * over the new ones at once. @throws Fault `seal_key_differs` where `secrets.json` is missing, and as `openSecrets`
 */
export async function startSecrets(
  { documents }: Pick<Store, 'documents'>,
  folder: string,
  { seal_key, seal_key_previous }: SealKeyTexts,
): Promise<Secrets> {
  const installed = (await readInstallation({ documents }))?.seal_hash ?? ''
  // Looked at last: another process of this folder may have made both meanwhile.
  if (seal_key === '' && installed !== '' && !existsSync(join(folder, SECRETS_FILE)))
    throw fault(
      'seal_key_differs',
      `${folder} has no ${SECRETS_FILE}, which holds the seal key: put the file of the last backup back, or set storage.seal_key to that of the first node`,
    )
  return openSecrets(folder, seal_key, seal_key_previous)
}

/** The seal keys of settings or `secrets.json`: the current one, and those that it replaces. `open`: how they are compared with the store's. @throws Fault `seal_key_differs`, `setting_invalid` */
export function sealKeysOf(
  { documents }: Pick<Store, 'documents'>,
  secrets: SealKeyTexts,
  open = openSealKeys,
): Promise<SealKeys> {
  const [current, ...previous] = sealKeyList(secrets)
  return open(documents, current!, previous)
}

/** The keys as settings and `secrets.json` hold them; the previous ones are separated by commas. */
export type SealKeyTexts = Pick<Secrets, 'seal_key' | 'seal_key_previous'>

/** True where one of the keys is that of a store whose installation has this `seal_hash`; '' = it has none. @throws Fault `setting_invalid` */
export function fitsStore(secrets: SealKeyTexts, hash: string): boolean {
  return hash === '' || sealKeyList(secrets).some((sealKey) => sealHash({ sealKey }) === hash)
}

/** The current key, then the previous ones. @throws Fault `setting_invalid` */
function sealKeyList({ seal_key, seal_key_previous }: SealKeyTexts): Uint8Array[] {
  return [seal_key, ...seal_key_previous.split(',').filter((key) => key !== '')].map(secretBytes)
}

/**
 * Seals what is stored under the current key, in the background, where there are keys from before; reports how it goes in the log. Answers
 * the function that ends it.
 */
export function startResealing(store: Store, keys: SealKeys, log: Log): () => Promise<void> {
  if (keys.previous.length === 0) return async () => {}
  const ended = new AbortController()
  const work = async () => {
    let reportedAt = performance.now()
    const onProgress = (resealed: number) => {
      if (performance.now() - reportedAt < TELL_EVERY_MS) return
      reportedAt = performance.now()
      log.info({ resealed }, 'sealing the secrets of documents under the current seal key')
    }
    while (!ended.signal.aborted) {
      try {
        const parts = { documents: store.documents, tokens: store.tokens, keys }
        const { documents, sessionsLeft } = await resealStore({
          ...parts,
          stopped: () => ended.signal.aborted,
          onProgress,
        })
        if (ended.signal.aborted) return
        const fields = { resealed: documents, sessions_left: sessionsLeft }
        log.info(fields, 'all documents are sealed under the current seal key')
        return
      } catch (error) {
        log.warn({ cause: toFault(error) }, 'cannot seal the documents under the current seal key now, trying again')
        await wait(AGAIN_MS, undefined, { ref: false, signal: ended.signal }).catch(() => {})
      }
    }
  }
  const running = work()
  return async () => {
    ended.abort()
    await running
  }
}
