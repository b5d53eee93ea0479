import { deleteKey, type KeyEntry, readKey, saveKey } from '../../api/access/keys.ts'
import { saveJson } from '../../parts/charts/save-file.ts'
import type { BulkAction } from '../../parts/tables/bulk-actions.tsx'
import { say } from '../../texts/say.ts'

/** Actions on chosen keys; those that change them for users who may write keys. */
export function keyActions(mayWrite: boolean): readonly BulkAction<KeyEntry>[] {
  const rest: BulkAction<KeyEntry> = {
    ...{ name: 'export', label: say('list.export'), hint: say('keys.exportHint') },
    run: async ({ key_hash }) => {
      const { own, facts } = await readKey(key_hash)
      return { key_hash, session: own, facts }
    },
    finish: (keys) => saveJson(keys, 'keys.json'),
  }
  if (!mayWrite) return [rest]
  return [
    {
      ...{ name: 'activate', label: say('list.activate'), hint: say('keys.activateManyHint') },
      run: (entry) => setInactive(entry, false),
    },
    {
      ...{ name: 'deactivate', label: say('list.deactivate'), hint: say('keys.switchOffHint') },
      run: (entry) => setInactive(entry, true),
    },
    rest,
    {
      ...{ name: 'delete', label: say('list.delete'), hint: say('keys.deleteHint'), isGrave: true },
      run: ({ key_hash }) => deleteKey(key_hash),
    },
  ]
}

/** Read again, so that only this one member changes, with edits of others kept. */
async function setInactive({ key_hash, facts }: KeyEntry, isOff: boolean): Promise<void> {
  if (facts.status === 'rotated') throw new Error(say('keys.rotatedEdit'))
  await saveKey(key_hash, { ...(await readKey(key_hash)).own, is_inactive: isOff })
}
