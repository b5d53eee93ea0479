import type { KeyFacts, KeySession } from '../../api/access/keys.ts'
import { say } from '../../texts/say.ts'

const SHOWN = 10

/** The name of a key: its alias, the name of a basic-auth user, else the beginning of its hash. */
export function nameOfKey({ key_hash, data }: { readonly key_hash: string; readonly data: KeySession }): string {
  return data.alias || data.user_name || say('keys.noAlias', { hash: key_hash.slice(0, SHOWN) })
}

export const STATE_COLOURS: Readonly<Record<KeyFacts['status'], string>> = {
  active: 'teal',
  inactive: 'gray',
  expired: 'red',
  rotated: 'yellow',
}

/** True for a session whose quotas count for each of its APIs alone. */
export function hasQuotaPerApi({ quota_max: common = 0, access_rights: rights }: KeySession): boolean {
  return common <= 0 && Object.values(rights ?? {}).some(({ limit }) => (limit?.quota_max ?? 0) > 0)
}
