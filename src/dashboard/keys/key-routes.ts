import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { Fault, fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { withoutHidden } from '../../model/keys/key.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { checkSession, SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { preview } from '../../publish/sessions/sessions.ts'
import { soleOwnership } from '../access/co-owned.ts'
import { maskSecretsFor } from '../access/secrets-view.ts'
import { RIGHTS_QUERY } from '../access/vendor-rights.ts'
import { KeyFacts, keyFacts } from '../portal/developers/key-entry.ts'
import { bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { keyedDigestOf } from '../routes/entity-version.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { keyListRoutes } from './key-list-routes.ts'
import { KeyData, keyData, maskKeyFor, SessionBody, toSessionView } from './key-shape.ts'
import { keyInPath, withinVisibility } from './key-view.ts'
import { changeKey, createChosenKey, createNamedUser, createRandomKey, isForUser, removeKey } from './key-writes.ts'

const READ = { permission: 'keys', intent: 'read' } as const
const WRITE = { permission: 'keys', intent: 'write' } as const
const OWNED = { noun: 'key', by: 'keyId' } as const

const NAMING = {
  hashed: Type.String({ description: 'Anything: the path holds the hash of the key.' }),
  auto_guess: Type.String({ description: 'true: the path holds the key or its hash.' }),
  username: Type.String({ description: 'true: the path holds the name of a basic user.' }),
}
const FACTS = Type.String({ description: '1: with `facts`: state, last use, rotation.' })
const KeyDetailsShape = Type.Object(
  {
    ...KeyData.properties,
    facts: Type.Optional(KeyFacts),
    own: Type.Optional(
      Type.Object(
        {},
        {
          description: 'The session as it is stored, no policy applied: what to change.',
          ...describedAs(SESSION_SCHEMA),
        },
      ),
    ),
  },
  { title: 'KeyDetails' },
)
const SAVING = {
  suppress_reset: Type.String({ description: '1: the counts of quotas stay as they are.' }),
  ...RIGHTS_QUERY,
}
const BASIC = { basic_auth: Type.String({ description: 'true: the session is that of a basic user.' }) }

/** Keys of callers: by themselves, by their hashes, or by the names of basic users. */
export function keyRoutes(parts: DashboardParts): Route[] {
  return [
    ...keyListRoutes(parts),
    ...createRoutes(parts),
    ...oneRoutes(parts, '/api/keys/{keyId}'),
    // The API in the path is one of the caller's, by either id, or a word such as `-`: keys are unique among all APIs.
    ...oneRoutes(parts, '/api/apis/{apiId}/keys/{keyId}'),
  ]
}

function createRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/keys',
      access: WRITE,
      summary: 'Create a key',
      query: { ...BASIC, ...SAVING },
      body: SessionBody,
      answers: { 200: KeyData },
      // A user without a name gets one, as a key gets a key.
      run: (call) => (isForUser(call) ? createNamedUser(parts, call, newUserName()) : createRandomKey(parts, call)),
    },
    {
      method: 'POST',
      path: '/api/keys/preview',
      access: READ,
      summary: 'Preview a session with its policies applied',
      body: SessionBody,
      answers: { 200: KeyData },
      run: (call) => previewed(parts, call),
    },
    {
      method: 'POST',
      path: '/api/keys/{keyId}',
      access: WRITE,
      owned: OWNED,
      summary: 'Create a key of your choice, or a basic user',
      query: { ...BASIC, ...SAVING, username: NAMING.username },
      body: SessionBody,
      answers: { 200: KeyData },
      run: (call) => (isForUser(call) ? createNamedUser : createChosenKey)(parts, call, call.param('keyId')),
    },
    {
      method: 'POST',
      path: '/api/apis/keys/basic/{username}',
      access: WRITE,
      summary: 'Create or replace a basic user',
      query: SAVING,
      body: SessionBody,
      answers: { 200: KeyData },
      run: (call) => createNamedUser(parts, call, call.param('username')),
    },
  ]
}

function oneRoutes(parts: DashboardParts, path: string): Route[] {
  const entityTag = async (call: Call) => keyedDigestOf((await keyInPath(parts, call)).row.body, parts.sealKey)
  return [
    {
      method: 'GET',
      path,
      access: READ,
      owned: OWNED,
      summary: 'Read a key',
      query: { ...NAMING, facts: FACTS },
      answers: { 200: KeyDetailsShape },
      entityVersion: entityTag,
      run: async (call) => {
        const { row, key, by } = await keyInPath(parts, call)
        const data = await keyData(parts, call, row, key)
        const isAlone = (await soleOwnership(parts, call)).key(row)
        const masked = maskKeyFor(call, data, { isAlone, isNamed: by !== 'hash' })
        const answer = (more: JsonObject) => bare({ ...masked, ...more })
        if (call.query('facts') !== '1') return answer({})
        const own = maskSecretsFor(call, 'keys', withoutHidden(row.body), isAlone)
        return answer({ facts: await keyFacts(parts, row, data.data), own })
      },
    },
    {
      method: 'PUT',
      path,
      access: WRITE,
      owned: { ...OWNED, keepsOthers: true },
      summary: 'Change a key',
      query: { ...NAMING, ...SAVING },
      body: SessionBody,
      answers: { 200: KeyData },
      entityVersion: entityTag,
      run: (call) => changeKey(parts, call),
    },
    {
      method: 'DELETE',
      path,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete a key',
      query: NAMING,
      answers: { 200: DoneEnvelope },
      run: (call) => removeKey(parts, call),
    },
  ]
}

/** @throws Fault `body_refused` (400) for any error in it, `not_owner` (401) */
async function previewed(parts: DashboardParts, call: Call) {
  try {
    const sent = await withinVisibility(parts, call, call.object(), undefined)
    const session = checkSession(sent)
    return bare({
      api_model: {},
      key_id: '',
      key_hash: '',
      data: maskSecretsFor(call, 'keys', toSessionView(await preview(parts, session))),
    })
  } catch (error) {
    if (!(error instanceof Fault) || (error.code !== 'key_invalid' && error.code !== 'rights_missing')) throw error
    throw fault('body_refused', `User/Key object validation failed: ${error.message}`, error)
  }
}

function newUserName(): string {
  return randomUUID().replaceAll('-', '')
}
