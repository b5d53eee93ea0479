import { Type } from 'typebox'
import { counterIdOf } from '../../../model/keys/key.ts'
import { keysOf } from '../../../model/portal/developers/holdings.ts'
import { hexOf } from '../../../model/text/hex.ts'
import { deleteKey } from '../../../publish/keys/keys.ts'
import {
  changeDeveloperKey,
  issueAccess,
  rotateDeveloperKey,
  toAccessView,
} from '../../../publish/portal/developers/developer-keys.ts'
import { formerKeysOf } from '../../../publish/portal/developers/keys-of-developer.ts'
import { resetQuotas } from '../../../publish/sessions/quotas.ts'
import type { SessionRow, StoredDocument } from '../../../store/ports/ports.ts'
import { seesSession } from '../../access/owned.ts'
import { type Answer, bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { keyedDigestOf } from '../../routes/entity-version.ts'
import { DoneEnvelope, PageCount } from '../../routes/envelope.ts'
import { pageAnswer } from '../../routes/listed.ts'
import { pageOf } from '../../routes/page.ts'
import type { Route } from '../../routes/route.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'
import { AccessBody, accessSent, overlapSent, PoliciesBody, policiesSent, RotationBody } from './access-body.ts'
import { checkPoliciesGrantable, developerInPath, developerKeyAt } from './holding-view.ts'
import { KeyEntry, keyEntry } from './key-entry.ts'

const DEVELOPER = '/api/portal/developers/{id}'
const ONE = `${DEVELOPER}/keys/{keyId}`
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const
const OWNED = { noun: 'key', by: 'keyId' } as const

const List = Type.Object(
  { Data: Type.Array(KeyEntry, { description: 'Keys of the developer.' }), Pages: PageCount },
  { title: 'DeveloperKeyPage' },
)
/** A key that is shown this once. */
export const NewKey = Type.Object(
  {
    RawKey: Type.String({ minLength: 1, description: 'The key. It is shown now, and never again.' }),
    Password: Type.Literal('', { description: 'Always blank; kept for clients of the incumbent.' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'The OAuth APIs of its policies, which it does not open.' }),
    ),
  },
  { title: 'IssuedKey' },
)
/** An OAuth app with its secret, which is shown this once. */
export const NewApp = Type.Object(
  {
    client_id: Type.String({ description: 'Client id of the OAuth app.' }),
    secret: Type.String({ description: 'Client secret. It is shown now, and never again.' }),
    policy_id: Type.String({ description: 'Id of the policy that its tokens get.' }),
    redirect_uri: Type.String({ description: 'Redirect URIs of the app.' }),
  },
  { title: 'IssuedApp' },
)
const RotatedKey = Type.Object(
  {
    RawKey: Type.String({ minLength: 1, description: 'The new key. It is shown now, and never again.' }),
    Password: Type.Literal('', { description: 'Always blank; kept for clients of the incumbent.' }),
    key_id: Type.String({ description: 'Hash of the new key.' }),
    rotated_from: Type.String({ description: 'Hash of the old key.' }),
    valid_until: Type.String({ description: 'Until when the old key is good as well; empty = no longer.' }),
  },
  { title: 'RotatedDeveloperKey' },
)

/** Keys of developers. `{keyId}` is the hash; where keys are stored in the clear, the key itself is taken too. */
export function developerKeyRoutes(parts: DashboardParts): Route[] {
  const add = ['keys', 'subscriptions'].map(
    (noun): Route => ({
      method: 'POST',
      path: `${DEVELOPER}/${noun}`,
      access: WRITE,
      summary: 'Create a key, or for a policy with OAuth APIs an OAuth app, for a developer',
      body: AccessBody,
      answers: { 200: Type.Union([NewKey, NewApp]) },
      run: (call) => addAccess(parts, call),
    }),
  )
  return withPortalAlias([...add, ...readRoutes(parts), ...changeRoutes(parts)])
}

function readRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: `${DEVELOPER}/keys`,
      access: READ,
      summary: 'List the keys of a developer; rotated keys that are still valid follow their successors',
      query: { p: Type.Integer() },
      answers: { 200: List },
      run: (call) => listKeys(parts, call),
    },
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read a key of a developer',
      answers: { 200: KeyEntry },
      // Not of the answer, which holds what is left of the quota.
      entityVersion: async (call) => keyedDigestOf((await held(parts, call)).row.body, parts.sealKey),
      run: async (call) => bare(await keyEntry(parts, call, (await held(parts, call)).row)),
    },
  ]
}

function changeRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: { ...OWNED, keepsOthers: true },
      summary: 'Replace the policies of a developer key; its subscriptions follow',
      body: PoliciesBody,
      answers: { 200: DoneEnvelope },
      run: async (call) => changePolicies(parts, call, await held(parts, call), policiesSent(call.object())),
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Revoke a key of a developer and the keys that it replaced',
      answers: { 200: DoneEnvelope },
      run: async (call) => revokeDeveloperKey(parts, call, await held(parts, call)),
    },
    {
      method: 'POST',
      path: `${ONE}/reset_quota`,
      access: WRITE,
      owned: OWNED,
      summary: 'Reset the quotas of a key',
      answers: { 200: DoneEnvelope },
      run: async (call) => resetQuota(parts, await held(parts, call)),
    },
    {
      method: 'POST',
      path: `${ONE}/rotate`,
      access: WRITE,
      owned: OWNED,
      summary: 'Rotate a key; access rights, fields, expiry and counters carry over',
      body: RotationBody,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: RotatedKey },
      run: (call) => rotate(parts, call),
    },
  ]
}

/** A key of a developer, and whose it is. */
export interface DeveloperKeyContext {
  readonly developer: StoredDocument
  readonly row: SessionRow
}

/** Gives a key other policies. @throws Fault as `changeDeveloperKey`; `not_owner` (401) */
export async function changePolicies(
  parts: DashboardParts,
  call: Call,
  { developer, row }: DeveloperKeyContext,
  policies: readonly string[],
): Promise<Answer> {
  await checkPoliciesGrantable(parts, call, String(developer.body.org_id), policies, row.policyIds)
  await changeDeveloperKey(parts, { row, policies, actor: call.actor!.email })
  return ok('Data updated')
}

/** Deletes a key. */
export async function revokeDeveloperKey(
  parts: DashboardParts,
  call: Call,
  { row }: DeveloperKeyContext,
): Promise<Answer> {
  await deleteKey(parts, row, call.actor!.email)
  return ok('Data deleted')
}

/** Resets the quotas of a key. */
export async function resetQuota(parts: DashboardParts, { row }: DeveloperKeyContext): Promise<Answer> {
  await resetQuotas(parts, row.body, row.orgId, counterIdOf(row.body, hexOf(row.hash)), { always: true })
  return ok('Quota reset')
}

async function held(parts: DashboardParts, call: Call): Promise<DeveloperKeyContext> {
  const developer = await developerInPath(parts, call)
  return { developer, row: await developerKeyAt(parts, call, developer) }
}

async function addAccess(parts: DashboardParts, call: Call): Promise<Answer> {
  const developer = await developerInPath(parts, call)
  const sent = accessSent(parts, call)
  await checkPoliciesGrantable(parts, call, String(developer.body.org_id), sent.policies)
  const issued = await issueAccess(parts, {
    ...sent,
    developer,
    actor: call.actor!.email,
    action: 'developer.access',
  })
  return bare(toAccessView(issued))
}

async function listKeys(parts: DashboardParts, call: Call): Promise<Answer> {
  const developer = await developerInPath(parts, call)
  const look = { parts, visibility: call.visibility, orgId: String(developer.body.org_id) }
  const held: SessionRow[] = []
  for (const keyHash of keysOf(developer.body).keys()) {
    const row = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
    // The policies that a record lists for a key are free text: its access decides.
    if (row !== undefined && (await seesSession(look, row))) held.push(row)
  }
  const page = pageOf(call)
  const asked = page === 'all' ? held : held.slice(page.offset, page.offset + page.limit)
  const rows: SessionRow[] = []
  for (const row of asked) rows.push(row, ...(await formerKeysOf(parts.tokens, row)))
  return pageAnswer(rows, held.length, page, {
    ...{ name: 'Data', pages: 'Pages' },
    shape: (row) => keyEntry(parts, call, row),
  })
}

async function rotate(parts: DashboardParts, call: Call): Promise<Answer> {
  const { row } = await held(parts, call)
  const overlapS = overlapSent(call)
  const saved = await rotateDeveloperKey(parts, { row, overlapS, actor: call.actor!.email })
  const old = overlapS === 0 ? undefined : await parts.tokens.getSession(row.hash)
  return bare({
    ...{ RawKey: saved.key ?? '', Password: '', key_id: saved.keyHash, rotated_from: hexOf(row.hash) },
    valid_until: old === undefined ? '' : new Date(old.evictAt).toISOString(),
  })
}
