import { createHmac } from 'node:crypto'
import { fault, toFault } from '../../errors/fault.ts'
import { type DocumentId, newDocumentId, toDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { currentKey, equalSecrets, hashKey, type SealKeys, seal, unseal } from '../../model/secrets/secret.ts'
import type { Change, Revision } from '../../store/ports/ports.ts'
import { clockOf, type SecretParts } from '../documents/parts.ts'
import { moveObjects } from './move-objects.ts'

/** The document in which an installation describes itself. */
export interface Installation {
  /**
   * Organisation of objects that name none. The id exists before the organisation does, so that objects created until then
   * belong to it from the start: access rights, counters and certificates never move.
   */
  readonly default_org: DocumentId
  /** SHA-256 of the token in the set-up link, hex; '' = closed for ever. */
  readonly setup_hash: string
  /** Identifies the seal key, hex; '' in documents of older versions. */
  readonly seal_hash: string
  /** The key of the HMACs by which rows are found, sealed, base64; '' = it is the seal key. */
  readonly lookup_sealed: string
  /** Marks of the seal keys of before, hex: nothing is sealed under them any more by a node that has a newer one. */
  readonly seal_hashes_before: readonly string[]
}

/** Defaults for documents of older versions. */
const NO_KEY = { seal_hash: '', lookup_sealed: '', seal_hashes_before: [] }

const LOOKUP_CONTEXT = 'installation:lookup'

/** The one document of kind `installation`. */
export const INSTALLATION_ID = toDocumentId('0'.repeat(24))

/** The installation's document; undefined before its first start. */
export async function readInstallation({
  documents,
}: Pick<SecretParts, 'documents'>): Promise<(Installation & { readonly revision: Revision }) | undefined> {
  const found = await documents.get('installation', INSTALLATION_ID)
  return found && { ...NO_KEY, ...(found.body as unknown as Installation), revision: found.revision }
}

/**
 * Makes the installation's document at the first start: the id of the organisation to come, and the set-up link. Objects of older
 * versions, which belong to no organisation, are assigned to it. Returns the resulting document.
 * @throws Fault `seal_key_differs` when its secrets are sealed under another key, `store_away`
 */
export async function openInstallation(parts: SecretParts): Promise<Installation> {
  const known = await readInstallation(parts)
  if (known !== undefined) return withSealKey(parts, known)
  const { rows } = await parts.documents.list('organisation', { limit: 1 })
  const users = await parts.documents.list('user', { limit: 1 })
  const made: Installation = {
    default_org: rows[0]?.id ?? newDocumentId(clockOf(parts).wall()),
    setup_hash: users.total > 0 ? '' : hashOf(setupToken(parts)),
    seal_hash: sealHash(parts),
    lookup_sealed: '',
    seal_hashes_before: [],
  }
  // The document comes last: an interrupted start is repeated, with what is left to store.
  await moveObjects(parts, '', made.default_org)
  try {
    await parts.documents.commit([putInstallation(made, 0)], undefined)
    return made
  } catch (error) {
    // Another node was first.
    if (toFault(error).code !== 'revision_conflict') throw error
    return openInstallation(parts)
  }
}

/** The seal keys of an installation, whose current one is `current`, or one of `previous` as long as no node uses `current`. @throws Fault `seal_key_differs` */
export async function readSealKeys(
  documents: SecretParts['documents'],
  current: Uint8Array,
  previous: readonly Uint8Array[],
): Promise<SealKeys> {
  return keysFor(await readInstallation({ documents }), current, previous)
}

/**
 * The same for a node that starts: where `current` is new, that is noted, and from then on it is the one that new nodes must have.
 * @throws Fault `seal_key_differs`
 */
export async function openSealKeys(
  documents: SecretParts['documents'],
  current: Uint8Array,
  previous: readonly Uint8Array[],
): Promise<SealKeys> {
  const known = await readInstallation({ documents })
  const keys = keysFor(known, current, previous)
  const own = sealHash({ sealKey: current })
  if (known === undefined || known.seal_hash === '' || known.seal_hash === own) return keys
  // A node that was not given the newer key as its current one yet stays under the older.
  if (known.seal_hashes_before.includes(own)) return keys
  const changed: Installation = {
    ...known,
    seal_hash: own,
    lookup_sealed: seal(current, keys.lookup, LOOKUP_CONTEXT).toString('base64'),
    seal_hashes_before: [...known.seal_hashes_before, known.seal_hash],
    // The link follows from the key.
    setup_hash: known.setup_hash === '' ? '' : hashOf(setupToken({ sealKey: current })),
  }
  try {
    await documents.commit([putInstallation(changed, known.revision)], undefined)
    return keys
  } catch (error) {
    if (toFault(error).code !== 'revision_conflict') throw error
    return openSealKeys(documents, current, previous)
  }
}

function keysFor(known: Installation | undefined, current: Uint8Array, previous: readonly Uint8Array[]): SealKeys {
  if (known === undefined || known.seal_hash === '') return { current, previous, lookup: current }
  const installed = [current, ...previous].find((key) => sealHash({ sealKey: key }) === known.seal_hash)
  if (installed === undefined) throw fault('seal_key_differs')
  const { lookup_sealed: sealed } = known
  const lookup = sealed === '' ? installed : unseal(installed, Buffer.from(sealed, 'base64'), LOOKUP_CONTEXT)
  return { current, previous, lookup }
}

/** Makes sure that this process can read what others sealed: the key of an older installation is taken for the right one. */
async function withSealKey(
  parts: SecretParts,
  known: Installation & { readonly revision: Revision },
): Promise<Installation> {
  const own = sealHash(parts)
  if (known.seal_hash === own || known.seal_hashes_before.includes(own)) return known
  if (known.seal_hash !== '') throw fault('seal_key_differs')
  await parts.documents.commit([putInstallation({ ...known, seal_hash: own }, known.revision)], undefined)
  return { ...known, seal_hash: own }
}

/** The change that writes the installation's document. */
export function putInstallation(installation: Installation, ifRevision: Revision): Change {
  const { default_org, setup_hash, seal_hash, lookup_sealed, seal_hashes_before } = installation
  const body: JsonObject = {
    default_org,
    setup_hash,
    seal_hash,
    lookup_sealed,
    seal_hashes_before: [...seal_hashes_before],
  }
  return { op: 'put', kind: 'installation', id: INSTALLATION_ID, body, ifRevision }
}

/** The change that closes the set-up link, where it is open: it opens nothing once there is a user. */
export async function closeSetup(parts: Pick<SecretParts, 'documents'>): Promise<Change[]> {
  const known = await readInstallation(parts)
  return known === undefined || known.setup_hash === ''
    ? []
    : [putInstallation({ ...known, setup_hash: '' }, known.revision)]
}

/**
 * The token in the set-up link. It follows from the seal key, which never leaves the data folder, so that every start and every node
 * prints the same link until it is used.
 */
export function setupToken({ sealKey }: Pick<SecretParts, 'sealKey'>): string {
  return createHmac('sha256', currentKey(sealKey)).update('gatehouse set-up link').digest('base64url')
}

/** True when the token is that of the set-up link and the link is open. */
export function isSetupToken(installation: Pick<Installation, 'setup_hash'> | undefined, token: string): boolean {
  const expected = installation?.setup_hash ?? ''
  return equalSecrets(hashOf(token), expected) && expected !== ''
}

/** A hash that distinguishes a seal key from another, hex; it says nothing about the key. */
export function sealHash({ sealKey }: Pick<SecretParts, 'sealKey'>): string {
  return createHmac('sha256', currentKey(sealKey)).update('gatehouse seal key').digest('hex')
}

const hashOf = (token: string) => hashKey(token).toString('hex')
