import { Type } from 'typebox'
import { fault, toFault } from '../../../errors/fault.ts'
import { publicText } from '../../../errors/render.ts'
import { isObject, type Json, type JsonObject, mergePatch } from '../../../model/json/json.ts'
import { mayDo } from '../../../model/people/permission.ts'
import { appIdsOf } from '../../../model/portal/developers/holdings.ts'
import { foldCase } from '../../../model/text/fold.ts'
import { developerByEmail, developerIn } from '../../../publish/portal/developers/developers.ts'
import {
  createDeveloper,
  type DeveloperRules,
  deleteDeveloper,
  replaceDeveloper,
  setDeveloperPassword,
} from '../../../publish/portal/developers/developers-write.ts'
import type { ListQuery, StoredDocument } from '../../../store/ports/ports.ts'
import { isUnbounded } from '../../access/actor.ts'
import { restoreMaskedSecrets } from '../../access/secrets-view.ts'
import { apiDocumentOf } from '../../apis/api-document.ts'
import { type Answer, bare, ok, refused } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope, OutcomeText } from '../../routes/envelope.ts'
import { listed } from '../../routes/listed.ts'
import { pageOf } from '../../routes/page.ts'
import type { Route } from '../../routes/route.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'
import { provenDeveloper } from '../sign-in/session-credentials.ts'
import { DeveloperBody, DeveloperPage, DeveloperPatch, DeveloperShape, Updated } from './developer-shapes.ts'
import { developerInPath } from './holding-view.ts'
import { checkSoleHolder, preserveForeignHoldings, toVisibleDeveloper } from './holdings.ts'

const PATH = '/api/portal/developers'
const ONE = `${PATH}/{id}`
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const
const MISSING = 'Developer not found'
/** Developers of all organisations who sign in elsewhere under one name. */
const MOST_SAME = 1000
/** Policies of one API, by which developers are looked for. */

/** Developers of the portal: `/api/portal/developers`. Their keys and apps have separate routes. */
export function developerRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([...readRoutes(parts), ...writeRoutes(parts), ...credentialRoutes(parts)])
}

function readRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List developers',
      query: {
        p: Type.Integer(),
        q: Type.String({
          maxLength: 256,
          description: 'Part of the email address; without sort, in the order of addresses.',
        }),
        sort: Type.String({ pattern: '^-?(?:email|date_created)$' }),
      },
      answers: { 200: DeveloperPage },
      run: (call) => list(parts, call, { where: call.visibility.whereOrg(), ...searched(call), ...sorted(call) }),
    },
    {
      method: 'GET',
      path: `${PATH}/email/{email}`,
      access: READ,
      summary: 'Read a developer by email address, case-insensitive',
      answers: { 200: DeveloperShape },
      run: async (call) => shown(parts, call, await byEmail(parts, call)),
    },
    {
      method: 'GET',
      path: `${PATH}/ssokey/{key}`,
      keysIn: ['key'],
      access: READ,
      summary: 'Read a developer by single sign-on key, case-insensitive',
      answers: { 200: DeveloperShape },
      run: async (call) => {
        // The organisation is looked at afterwards: few have the same, and all developers are of some organisation.
        const where = { sso_key: call.param('key').toLowerCase() }
        const { rows } = await parts.documents.list('developer', { where, limit: MOST_SAME })
        return shown(
          parts,
          call,
          rows.find((row) => call.visibility.org(row)),
        )
      },
    },
    {
      method: 'GET',
      path: `${PATH}/api/{apiId}`,
      access: READ,
      owned: { noun: 'api', by: 'apiId' },
      summary: 'List developers who have a key or an OAuth app for an API',
      query: { p: Type.Integer() },
      answers: { 200: DeveloperPage },
      run: (call) => ofApi(parts, call),
    },
    {
      method: 'GET',
      path: ONE,
      access: READ,
      summary: 'Read a developer',
      answers: { 200: DeveloperShape },
      entityVersion: (call) => developerIn(parts, call.actor!.orgId, call.param('id')),
      run: async (call) => shown(parts, call, await developerIn(parts, call.actor!.orgId, call.param('id'))),
    },
  ]
}

function writeRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create a developer; the password may be a bcrypt hash, or missing',
      body: DeveloperBody,
      bodyIs: 'any',
      answers: { 200: CreatedEnvelope },
      run: async (call) => ok((await createDeveloper(parts, call.object(), rulesOf(parts, call))).id),
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      summary:
        'Replace a developer: members that are left out are removed or as in a new one. Password, keys and OAuth apps are kept; the response names omitted ones. Delete keys and apps by their own calls',
      body: DeveloperBody,
      bodyIs: 'any',
      answers: { 200: Updated },
      entityVersion: (call) => developerIn(parts, call.actor!.orgId, call.param('id')),
      run: (call) => {
        const sent = call.object()
        return replace(parts, call, sent.keys, () => sent)
      },
    },
    {
      method: 'PATCH',
      path: ONE,
      access: WRITE,
      summary: 'Change parts of a developer (RFC 7396)',
      body: DeveloperPatch,
      bodyIs: 'any',
      answers: { 200: Updated },
      entityVersion: (call) => developerIn(parts, call.actor!.orgId, call.param('id')),
      run: (call) => {
        const patch = call.object()
        const patched = ({ password: _stored, ...body }: JsonObject) => mergePatch(body, patch) as JsonObject
        return replace(parts, call, patch.keys, patched)
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      summary: 'Delete a developer with all keys, OAuth apps, tokens, key requests and sessions',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await checkSoleHolder(parts, call, await developerInPath(parts, call))
        await deleteDeveloper(parts, call.param('id'), rulesOf(parts, call))
        return ok('Data deleted')
      },
    },
  ]
}

function credentialRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: `${PATH}/verify_credentials`,
      access: WRITE,
      summary:
        'Verify the email address and password of a developer: 200 or 401, without a session. Failed attempts are limited by email address and visitor (`user_address`; else by email address alone), and by caller address (ten times `login_failure_ip_limit`)',
      body: Type.Object({
        username: Type.String({ description: 'Email address of the developer.' }),
        password: Type.String({ description: 'Password of the developer.' }),
        user_address: Type.Optional(
          Type.String({
            description: 'IP address of the visitor: failed attempts of others then do not lock the developer out.',
          }),
        ),
      }),
      answers: { 200: DoneEnvelope },
      run: (call) => verify(parts, call),
    },
    {
      method: 'POST',
      path: `${PATH}/password/{id}`,
      access: WRITE,
      summary: 'Set the password of a developer; ends the portal sessions',
      body: Type.Object({ password: Type.String({ description: 'The new password.' }) }),
      invalid: 'Developer password validation failed.',
      answers: { 200: Type.Object({ Message: OutcomeText }) },
      run: async (call) => {
        try {
          await setDeveloperPassword(parts, call.param('id'), String(call.object().password), {
            ...rulesOf(parts, call),
            imported: false,
          })
        } catch (error) {
          // Clients know only this response for any error.
          if (toFault(error).code === 'not_found') throw fault('developer_password_invalid')
          throw error
        }
        return bare({ Message: 'Password changed' })
      },
    },
  ]
}

/** Every error is 401: clients check nothing else. */
async function verify(parts: DashboardParts, call: Call): Promise<Answer> {
  const { username, password, user_address: visitor } = call.object()
  const by = typeof visitor === 'string' ? { visitor } : 'portal'
  const sent = { orgId: call.actor!.orgId, address: String(username), password: String(password) }
  try {
    await provenDeveloper(parts, call, { ...sent, by })
  } catch (error) {
    const found = toFault(error)
    if (found.code !== 'sign_in_failed' && found.code !== 'sign_in_throttled') throw error
    const answer = refused(401, publicText(found))
    return found.waitS === 0 ? answer : { ...answer, headers: { 'retry-after': String(found.waitS) } }
  }
  return ok('Credentials verified')
}

/** Keys and apps for APIs that others own stay as they are, and out of what is answered. */
async function replace(
  parts: DashboardParts,
  call: Call,
  sentKeys: Json | undefined,
  recordOf: (body: JsonObject) => JsonObject,
): Promise<Answer> {
  const keep = await preserveForeignHoldings(parts, call, await developerInPath(parts, call), sentKeys)
  const rules = rulesOf(parts, call)
  const unlisted = await replaceDeveloper(
    parts,
    call.param('id'),
    (body) => keep(fieldsKept(recordOf(body), body)),
    rules,
  )
  const { oauth_clients: apps = null, keys = null } = await seen(parts, call, await developerInPath(parts, call))
  const visible = new Set(appIdsOf({ oauth_clients: apps }))
  const kept = {
    oauth_clients: unlisted.apps.filter((clientId) => visible.has(clientId)),
    keys: unlisted.keys.filter((hash) => isObject(keys) && Object.hasOwn(keys, hash)),
  }
  const named = Object.entries(kept).filter(([, ids]) => ids.length > 0)
  return ok('Data updated', named.length === 0 ? null : { kept: Object.fromEntries(named) })
}

/** Fields that were sent as readers see them stay as they are. @throws Fault `developer_invalid` (400) */
function fieldsKept(record: JsonObject, { fields: before }: JsonObject): JsonObject {
  const { fields } = record
  if (!isObject(fields ?? null)) return record
  return { ...record, fields: restoreMaskedSecrets(fields!, before, 'developer_invalid') }
}

/** Who may write a developer may see its secrets, the nonce among them, which opens its session: they could set one. */
function seen(parts: DashboardParts, call: Call, developer: StoredDocument): Promise<JsonObject> {
  const { actor } = call
  const writes = actor !== undefined && !isUnbounded(actor) && mayDo(actor.permissions, 'portal', 'write')
  return toVisibleDeveloper(parts, call, developer, { withSecrets: writes })
}

async function shown(parts: DashboardParts, call: Call, developer: StoredDocument | undefined): Promise<Answer> {
  return developer === undefined ? refused(404, MISSING) : bare(await seen(parts, call, developer))
}

/** Of an unbounded caller the oldest of all organisations. */
async function byEmail(parts: DashboardParts, call: Call): Promise<StoredDocument | undefined> {
  const { orgId } = call.actor!
  const address = call.param('email')
  if (orgId !== '') return developerByEmail(parts, orgId, address)
  const { rows } = await parts.documents.list('developer', {
    where: { email_folded: foldCase(address) },
    limit: 1,
  })
  return rows[0]
}

async function ofApi(parts: DashboardParts, call: Call): Promise<Answer> {
  const { body } = await apiDocumentOf(parts, call, call.param('apiId'))
  const where = { org_id: String(body.org_id ?? ''), api_id: String(body.api_id) }
  const ids: string[] = []
  for await (const batch of parts.documents.each('policy', { where }))
    ids.push(...batch.flatMap(({ id, body: { id: named } }) => [id, ...(typeof named === 'string' ? [named] : [])]))
  return list(parts, call, { where: { org_policy: ids.map((id) => `${where.org_id}/${id}`) } })
}

function list(parts: DashboardParts, call: Call, query: Omit<ListQuery, 'offset' | 'limit'>): Promise<Answer> {
  const shape = { name: 'Data', pages: 'Pages', shape: (row: StoredDocument) => seen(parts, call, row) }
  return listed(parts.documents, 'developer', query, pageOf(call), shape)
}

/** Results of a search by address are sorted by address, unless another order is requested. */
function searched(call: Call): Pick<ListQuery, 'contains' | 'order'> {
  const part = call.query('q')
  return part === '' ? {} : { contains: { index: 'email', part }, order: 'email_folded' }
}

function sorted(call: Call): Pick<ListQuery, 'order' | 'descending'> {
  const [, minus, order] = /^(-?)(.+)$/.exec(call.query('sort')) ?? []
  return order === undefined ? {} : { order: order === 'email' ? 'email_folded' : order, descending: minus === '-' }
}

function rulesOf({ config }: DashboardParts, { actor }: Call): DeveloperRules {
  const history = config.dashboard.security.enforce_password_history
  return { orgId: actor!.orgId, actor: actor!.email, history, imported: true }
}
