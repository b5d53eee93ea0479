import type { JsonObject } from '../../model/json/json.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { orgOf, type SecretParts } from '../documents/parts.ts'
import { inItsOrganisation } from '../organisations/organisation-of.ts'
import { findBasicUser } from './basic-auth-users.ts'
import { placeOfCertificate } from './certificate-keys.ts'
import { rawKeyOf } from './keys.ts'

/** How a caller names a key: by itself, by its hash, by either (itself first), or a basic user by name. */
export type KeyNaming = 'key' | 'hash' | 'guess' | 'username'

/** A key that was found, and how. */
export interface FoundKey {
  readonly row: SessionRow
  /** The key itself or the name of the user, where the caller named it or the installation keeps keys; else ''. */
  readonly key: string
  readonly by: 'key' | 'hash' | 'username'
}

/** The place of a new key: one of the caller's choice, or the name of a user; neither = by its certificate, or random. */
export interface KeyPlace {
  readonly key?: string
  readonly name?: string
}

/** The key or user that a new one in this place would replace. @throws Fault `store_away`, `query_invalid` as the creation itself */
export async function replacedKey(
  parts: SecretParts,
  session: JsonObject,
  { key, name }: KeyPlace,
): Promise<SessionRow | undefined> {
  const named = key === undefined ? await inItsOrganisation(parts, session) : session
  if (name !== undefined) return findBasicUser(parts, orgOf(parts, named.org_id), name)
  const hash = key === undefined ? placeOfCertificate(parts, named) : hashKey(key)
  return hash && parts.tokens.getSession(hash)
}

/**
 * Finds a key; unless the naming excludes it, otherwise a basic-auth user of the organisation. Organisations are not
 * compared here: keys are unique among all. @throws Fault `store_away`, `seal_broken`
 */
export async function findKey(
  parts: SecretParts,
  { name, naming, orgId }: { readonly name: string; readonly naming: KeyNaming; readonly orgId: string },
): Promise<FoundKey | undefined> {
  if (naming === 'key' || naming === 'guess') {
    const row = await parts.tokens.getSession(hashKey(name))
    if (row !== undefined) return { row, key: name, by: 'key' }
  }
  if (naming === 'hash' || naming === 'guess') {
    const row = isKeyHash(name) ? await parts.tokens.getSession(Buffer.from(name, 'hex')) : undefined
    if (row !== undefined) return { row, key: rawKeyOf(parts, row) ?? '', by: 'hash' }
  }
  const row = naming === 'hash' ? undefined : await findBasicUser(parts, orgId, name)
  return row && { row, key: name, by: 'username' }
}
