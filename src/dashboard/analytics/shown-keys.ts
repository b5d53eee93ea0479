import { fault } from '../../errors/fault.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The placeholder for requests without a key. */
const OPEN_KEY = '00000000'
/** Longer lists are refused: their answer is no page any more. */
const MOST_KEYS = 1000

/** The displayed form of a key: its hash, with any `hash_keys` setting. */
export const toKeyLabel = (keyHash: string): string => (keyHash === '' ? OPEN_KEY : keyHash)

/**
 * The hash of a key as a path names it: by its hash, or by itself where keys are not hashed; '' for requests without a key.
 * @throws Fault `key_undecodable` (400)
 */
export function keyHashNamed({ config }: Pick<DashboardParts, 'config'>, name: string): string {
  if (name === OPEN_KEY) return ''
  if (isKeyHash(name)) return name.toLowerCase()
  if (name === '' || config.gateway.hash_keys) throw fault('key_undecodable')
  return Buffer.from(hashKey(name)).toString('hex')
}

/**
 * The keys of a comma-separated list; the part between two commas, or after the last, may be empty.
 * @throws Fault `key_undecodable`, `query_invalid` (400)
 */
export function keyHashesNamed(parts: Pick<DashboardParts, 'config'>, list: string): string[] {
  const names = new Set(list.split(',').filter((name) => name !== ''))
  if (names.size === 0) throw fault('key_undecodable')
  if (names.size > MOST_KEYS) throw fault('query_invalid', `No more than ${MOST_KEYS} keys can be asked for at once`)
  return [...new Set([...names].map((name) => keyHashNamed(parts, name)))]
}

/** @throws Fault `not_found` (404) for a key of the organisation that is not stored and was never counted */
export async function checkKnownKey(parts: DashboardParts, call: Pick<Call, 'actor'>, keyHash: string): Promise<void> {
  if (keyHash === '') return
  const orgId = call.actor?.orgId ?? ''
  const stored = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
  if (stored !== undefined && (orgId === '' || stored.orgId === orgId)) return
  if (!(await parts.store.hits.knows(orgId, 'keyHash', keyHash))) throw fault('not_found', 'Key not found')
}
