import { INSTALLATION_ID, readInstallation } from '../publish/organisations/installation.ts'
import type { Documents, Feed } from '../store/ports/ports.ts'

/** The organisation of objects that name none, kept in step with the store. */
export interface DefaultOrg {
  /** Id of the first organisation, whether it has been set up yet or not. */
  readonly id: () => string
  close(): void
}

/** Reads it from the installation's document and follows the feed from then on. @throws Fault `store_away` */
export async function followDefaultOrg(documents: Documents, feed: Feed): Promise<DefaultOrg> {
  let id = ''
  const look = async () => {
    id = (await readInstallation({ documents }))?.default_org ?? ''
  }
  await look()
  const close = feed.subscribe(({ changes, missed }) => {
    if (!missed && !changes.some((change) => change.id === INSTALLATION_ID)) return
    // A store that is away for a moment: what was the first organisation stays the first.
    look().catch(() => {})
  })
  return { id: () => id, close }
}
