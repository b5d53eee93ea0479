import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault, toFault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { type JsonObject, presentMembers } from '../../model/json/json.ts'
import { counterIdOf, isKeyHash, USER_NAME } from '../../model/keys/key.ts'
import { liftedLimits } from '../../model/limits/limit-parts.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { checkSession, SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { wholeSession } from '../../model/sessions/session-zeros.ts'
import { hexOf } from '../../model/text/hex.ts'
import {
  bringsPassword,
  createBasicUser,
  findBasicUser,
  isBasicUser,
  updateBasicUser,
} from '../../publish/keys/basic-auth-users.ts'
import { type KeyPlace, replacedKey } from '../../publish/keys/find-key.ts'
import { createKey, deleteKey, rawKeyOf, type SavedKey, setKeyPolicies, updateKey } from '../../publish/keys/keys.ts'
import { rotateKey } from '../../publish/keys/rotate-key.ts'
import { inItsOrganisation } from '../../publish/organisations/organisation-of.ts'
import { findPolicy } from '../../publish/policies/policy-ids.ts'
import type { WarnedRights } from '../../publish/sessions/explicit-rights.ts'
import { sessionView } from '../../publish/sessions/quotas.ts'
import { preview } from '../../publish/sessions/sessions.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { type AdminAnswer, changed, json } from './answer.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'
import type { AdminRoute } from './route.ts'
import { sentRights, warningsField } from './sent-rights.ts'

const BATCH = 500
const OF_KEY = { schema: SESSION_SCHEMA }

const PAGE = 1000

/** Longest list that is put together in memory; more is asked for page by page. */
const MOST = 100_000

/** `/keys`: the keys of callers. A path names a key by itself, or with `hashed=true` by its hash. */
export function keyRoutes(parts: AdminParts): AdminRoute[] {
  const publish = publishParts(parts)
  const create = (request: AdminRequest) => createRandom(parts, request)
  return [
    { method: 'GET', path: '/keys', run: (request) => answerKeyList(parts, request) },
    { method: 'POST', path: '/keys', run: create },
    { method: 'POST', path: '/keys/create', run: create },
    {
      method: 'POST',
      path: '/keys/preview',
      run: async (request) => {
        const { body } = await sentRights(parts, request, await request.ofOrganisation(), OF_KEY)
        return json(await preview(publish, checkSession(await inItsOrganisation(publish, body))))
      },
    },
    { method: 'POST', path: '/keys/policy/{hash}', run: (request) => changePolicies(parts, request) },
    { method: 'POST', path: '/keys/{key}/rotate', run: (request) => rotate(parts, request) },
    { method: 'GET', path: '/keys/{key}', run: (request) => show(parts, request) },
    { method: 'POST', path: '/keys/{key}', run: (request) => createCustom(parts, request) },
    { method: 'PUT', path: '/keys/{key}', run: (request) => update(parts, request) },
    { method: 'DELETE', path: '/keys/{key}', run: (request) => remove(parts, request) },
  ]
}

async function createRandom(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const { body: session, warnings } = await newRights(parts, request, await request.ofOrganisation(), {})
  const saved = await createKey(publishParts(parts), {
    session,
    keepQuota: request.flag('suppress_reset'),
    actor: request.actor,
  })
  await waitUntilServed(parts, saved.revision)
  return saidOf(saved, saved.key ?? '', 'added', warnings())
}

/** A session with a password, or that was read of a user, is a user, whom the path names; any other is a key of the caller's choice. */
async function createCustom(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  if (request.flag('hashed')) throw fault('query_invalid', 'a key is created by its value, not by its hash')
  const key = request.param('key')
  const body = await request.ofOrganisation()
  const isOfUser = bringsPassword(body) || (body[USER_NAME] ?? '') !== '' || request.flag('username')
  const sent = await newRights(parts, request, body, isOfUser ? { name: key } : { key })
  if (isOfUser) return createNamed(parts, request, key, sent)
  const { body: session, warnings } = sent
  const saved = await createKey(publishParts(parts), {
    session,
    key,
    keepQuota: request.flag('suppress_reset'),
    actor: request.actor,
  })
  await waitUntilServed(parts, saved.revision)
  return saidOf(saved, key, saved.created ? 'added' : 'modified', warnings())
}

/** The rights of a key or user that is new, or replaces the one at its place. */
async function newRights(
  parts: AdminParts,
  request: AdminRequest,
  body: JsonObject,
  place: KeyPlace,
): Promise<WarnedRights> {
  const there = request.isAlias ? await replacedKey(publishParts(parts), body, place) : undefined
  return sentRights(parts, request, body, { ...OF_KEY, before: there?.body })
}

/** The hash alone is the handle of a user, unless the installation shows keys: then it is the organisation and the name. */
async function createNamed(
  parts: AdminParts,
  request: AdminRequest,
  name: string,
  { body: session, warnings }: WarnedRights,
): Promise<AdminAnswer> {
  const saved = await createBasicUser(publishParts(parts), {
    name,
    session,
    keepQuota: request.flag('suppress_reset'),
    actor: request.actor,
  })
  await waitUntilServed(parts, saved.revision)
  const orgId = typeof saved.session.org_id === 'string' ? saved.session.org_id : ''
  const handle = parts.config.gateway.hash_keys ? '' : orgId + name
  return saidOf(saved, handle, saved.created ? 'added' : 'modified', warnings())
}

async function show(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const row = await find(parts, request, 'Key not found')
  const shown = await sessionView(publishParts(parts), row.body, row.orgId, counterIdOf(row.body, hexOf(row.hash)))
  // The answer holds what is left of the quota.
  return { ...json(request.isAlias ? wholeSession(shown) : shown), version: JSON.stringify(row.body) }
}

async function update(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const row = await find(parts, request, 'Key is not found')
  const { body: session, warnings } = await sentRights(parts, request, await request.ofOrganisation(), {
    ...OF_KEY,
    before: row.body,
  })
  const change = { row, session, keepQuota: request.flag('suppress_reset'), actor: request.actor }
  const save = isBasicUser(row) ? updateBasicUser : updateKey
  const saved = await save(publishParts(parts), change)
  await waitUntilServed(parts, saved.revision)
  return saidOf(saved, request.param('key'), 'modified', [...warnings(), ...liftedLimits(row.body, saved.session)])
}

/** `api_id=-1` is the older way to say "from all APIs"; its answer has no body but `null`. */
async function remove(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const row = await find(parts, request, 'There is no such key found')
  const keyHash = hexOf(row.hash)
  try {
    await waitUntilServed(parts, await deleteKey(publishParts(parts), row, request.actor))
  } catch (error) {
    // A change that cannot be stored does not apply elsewhere, but this node need not use its memory.
    parts.sessions.drop(keyHash)
    throw toFault(error)
  }
  if (request.text('api_id') === '-1') return json(null)
  return changed(request.param('key'), 'deleted', { key_hash: keyHash })
}

/** `{"policy": "..."}`, `{"apply_policies": [...]}` or both, the single one first. */
async function changePolicies(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const { policy, apply_policies: list } = presentMembers(await request.object())
  if (policy !== undefined && typeof policy !== 'string') throw fault('body_malformed', 'policy: must be a string')
  if (list !== undefined && !(Array.isArray(list) && list.every((id) => typeof id === 'string'))) {
    throw fault('body_malformed', 'apply_policies: must be a list of strings')
  }
  const policies = [...new Set([...(policy ? [policy] : []), ...((list ?? []) as string[])])]
  if (policies.length === 0) throw fault('body_malformed', 'policy or apply_policies: is missing')
  const hash = request.param('hash')
  const row = await parts.store.tokens.getSession(isKeyHash(hash) ? Buffer.from(hash, 'hex') : hashKey(hash))
  if (row === undefined) throw fault('not_found', 'Key not found')
  const saved = await setKeyPolicies(publishParts(parts), { row, policies, actor: request.actor })
  await waitUntilServed(parts, saved.revision)
  return changed(hash, 'updated', { key_hash: saved.keyHash })
}

async function rotate(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const row = await find(parts, request, 'Key not found')
  const saved = await rotateKey(publishParts(parts), row, request.actor)
  await waitUntilServed(parts, saved.revision)
  return saidOf(saved, saved.key ?? '', 'modified')
}

function saidOf(
  saved: SavedKey,
  key: string,
  action: 'added' | 'modified',
  warnings: readonly JsonObject[] = [],
): AdminAnswer {
  return changed(key, action, { key_hash: saved.keyHash, ...warningsField(warnings) })
}

/**
 * Finds the key, or the user, that the path names; with `username` users only. @throws Fault `not_found` (404) with `missing`,
 * `query_invalid` (400)
 */
async function find(parts: AdminParts, request: AdminRequest, missing: string): Promise<SessionRow> {
  const named = request.param('key')
  const hashed = request.flag('hashed')
  if (hashed && !isKeyHash(named)) throw fault('not_found', missing)
  const byHash = () => parts.store.tokens.getSession(hashed ? Buffer.from(named, 'hex') : hashKey(named))
  const key = request.flag('username') ? undefined : await byHash()
  const row = key ?? (hashed ? undefined : await findNamed(parts, request, named))
  // Keys from the time before the setting was changed have no other handle than their hash.
  if (
    hashed &&
    !parts.config.gateway.hash_keys &&
    (row === undefined || rawKeyOf(publishParts(parts), row) !== undefined)
  ) {
    throw fault('query_invalid', 'Key requested by hash but key hashing is not enabled')
  }
  const orgId = request.text('org_id')
  if (row === undefined || (orgId !== '' && row.orgId !== '' && row.orgId !== orgId)) throw fault('not_found', missing)
  return row
}

/** A user by the name, or by organisation and name in one, as answers give it where keys are shown. */
async function findNamed(parts: AdminParts, request: AdminRequest, named: string): Promise<SessionRow | undefined> {
  const publish = publishParts(parts)
  const orgId = request.text('org_id') || publish.defaultOrg()
  const row = await findBasicUser(publish, orgId, named)
  if (row !== undefined || orgId === '' || !named.startsWith(orgId)) return row
  return findBasicUser(publish, orgId, named.slice(orgId.length))
}

/**
 * Answers `{"keys": [...]}`: hashes, or the keys themselves where the installation keeps them. `api_id`, `org_id` and `policy_id` narrow the
 * list, `filter` is how an entry begins. Without `p` everything at once up to 100,000 entries; a longer list ends there with
 * `"next"`, to be sent as `after`. With `p` a page of 1,000 and the number of `"pages"`, which counts without `filter`.
 */
async function answerKeyList(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const page = pageOf(request)
  const where = await whereOf(parts, request)
  const taken = await take(
    parts,
    request,
    where,
    page === undefined ? { skip: 0, most: MOST } : { skip: (page - 1) * PAGE, most: PAGE },
  )
  if (page === undefined) return json({ keys: taken.keys, ...(taken.next !== undefined && { next: taken.next }) })
  const total = await parts.store.tokens.countSessions(where)
  return json({ keys: taken.keys, pages: Math.max(1, Math.ceil(total / PAGE)) })
}

/** Reads on in batches, letting traffic through between them, until there are enough entries. */
async function take(
  parts: AdminParts,
  request: AdminRequest,
  where: Awaited<ReturnType<typeof whereOf>>,
  bounds: { skip: number; most: number },
) {
  const publish = publishParts(parts)
  const filter = request.text('filter')
  const keys: string[] = []
  let { skip } = bounds
  let after = afterOf(request)
  for (;;) {
    const { rows } = await parts.store.tokens.listSessions({ ...where, ...(after !== '' && { after }), limit: BATCH })
    for (const row of rows) {
      if (keys.length === bounds.most) return { keys, next: after }
      const hash = hexOf(row.hash)
      after = hash
      const name = rawKeyOf(publish, row) ?? hash
      if (name.startsWith(filter) && skip-- <= 0) keys.push(name)
    }
    if (rows.length < BATCH) return { keys, next: undefined }
    await nextTurn()
  }
}

async function whereOf(parts: AdminParts, request: AdminRequest) {
  const [apiId, orgId, named] = [request.text('api_id'), request.text('org_id'), request.text('policy_id')]
  // Keys name their policies by `id`.
  const stored = isDocumentId(named) ? await findPolicy(publishParts(parts), named, orgId || undefined) : undefined
  const policyId = stored?.body.id || named
  return { ...(apiId !== '' && { apiId }), ...(orgId !== '' && { orgId }), ...(policyId !== '' && { policyId }) }
}

function afterOf(request: AdminRequest): string {
  const after = request.text('after')
  if (after !== '' && !isKeyHash(after)) throw fault('query_invalid', 'after: must be a hash from a list before')
  return after.toLowerCase()
}
