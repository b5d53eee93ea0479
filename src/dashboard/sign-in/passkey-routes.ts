import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { hasSecondFactor, type StoredPasskey, securityOf } from '../../model/people/user-security.ts'
import { rewriteUser } from '../../publish/sign-in/rewrite-user.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import type { Route } from '../routes/route.ts'
import { moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { browserOf, freshBrowserOf, renewed, uncached } from './browser.ts'
import { storeChallenge, takeChallenge } from './challenges.ts'
import { cameByTls, relyingParty } from './origin.ts'
import { readRegistration, registrationOptions } from './passkeys.ts'
import { CREDENTIAL, OK, okWith, PASSKEY_OPTIONS, RENEWED } from './schemas.ts'
import { freshRecovery, passkeysJson } from './second-factor.ts'
import { renewSession } from './sessions.ts'
import { requiresSecondFactor } from './sign-in-progress.ts'

const MOST_PASSKEYS = 20
const NAME = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\x00-\\x1f\\x7f]*$' })

const LIST = Type.Object(
  {
    passkeys: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the passkey, in base64url.' }),
        name: Type.String({ description: 'Name that its owner has chosen.' }),
        created_at: moment('Time of registration (RFC 3339).'),
        last_used: Type.String({ description: 'Time of the last sign-in with it (RFC 3339). Blank: never.' }),
        backed_up: Type.Boolean({ description: 'True for a passkey that is synchronised between devices.' }),
        transports: Type.Array(Type.String(), { description: 'How browsers reach it, such as `usb` or `internal`.' }),
      }),
      { description: 'Passkeys of the user.' },
    ),
  },
  { title: 'PasskeyList' },
)

/** The passkeys of the caller. */
export function passkeyRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/passkeys',
      access: 'signed-in',
      summary: 'List the passkeys of the caller',
      answers: { 200: LIST },
      run: (call) => list(parts, call),
    },
    {
      method: 'POST',
      path: '/api/passkeys/options',
      access: 'signed-in',
      summary: 'Start the registration of a passkey',
      answers: { 200: okWith(PASSKEY_OPTIONS, 'PasskeyOptionsAnswer') },
      run: (call) => begin(parts, call),
    },
    {
      method: 'POST',
      path: '/api/passkeys',
      access: 'signed-in',
      summary: 'Register a passkey; the first second factor returns recovery codes, once',
      body: Type.Object({ name: described(NAME, 'Name for the passkey: 1 to 100 characters.'), response: CREDENTIAL }),
      answers: { 200: RENEWED },
      run: (call) => register(parts, call),
    },
    {
      method: 'PUT',
      path: '/api/passkeys/{id}',
      access: 'signed-in',
      summary: 'Rename a passkey',
      body: Type.Object({ name: described(NAME, 'Name for the passkey: 1 to 100 characters.') }),
      answers: { 200: OK },
      run: (call) => rename(parts, call),
    },
    {
      method: 'DELETE',
      path: '/api/passkeys/{id}',
      access: 'signed-in',
      summary: 'Delete a passkey',
      answers: { 200: RENEWED },
      run: (call) => remove(parts, call),
    },
  ]
}

async function list(parts: DashboardParts, call: Call): Promise<Answer> {
  const { userId } = call.actor!
  const user = isDocumentId(userId) ? await parts.documents.get('user', userId) : undefined
  const { passkeys } = securityOf(user?.body ?? {})
  const shown = passkeys.map(({ id, name, created_at, last_used, backed_up, transports }) => ({
    ...{ id, name, created_at, last_used, backed_up },
    transports: [...transports],
  }))
  return bare({ passkeys: shown })
}

async function begin(parts: DashboardParts, call: Call): Promise<Answer> {
  const { session, user } = await freshBrowserOf(parts, call)
  const { passkeys } = securityOf(user.body)
  if (passkeys.length >= MOST_PASSKEYS)
    throw fault('second_factor_state', `There are ${MOST_PASSKEYS} passkeys already`)
  const { first_name: first, last_name: last, email_address: email } = user.body
  const owner = { id: user.id, email: String(email), name: `${first ?? ''} ${last ?? ''}`.trim(), passkeys }
  const options = await registrationOptions(relyingParty(parts, call), owner)
  await storeChallenge(parts, { owner: session.sessionId, purpose: 'passkey' }, { challenge: options.challenge! })
  return uncached(ok('Create a passkey', options))
}

async function register(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, session, user } = await freshBrowserOf(parts, call)
  const { name, response } = call.object()
  const { challenge } = await takeChallenge(parts, { owner: session.sessionId, purpose: 'passkey' })
  const passkey = await readRegistration(relyingParty(parts, call), String(challenge), response, {
    name: String(name),
    now: parts.clock.wall(),
  })
  const { codes, kept } = freshRecovery(parts, user.id)
  let first = false
  await rewriteUser(parts, user.id, { actor: emailOf(user.body), action: 'Register passkey' }, (body) => {
    const before = securityOf(body)
    if (before.passkeys.length >= MOST_PASSKEYS || before.passkeys.some(({ id }) => id === passkey.id))
      throw fault('passkey_invalid', 'it is registered already, or there are too many')
    first = !hasSecondFactor(before)
    return { ...body, passkeys: passkeysJson([...before.passkeys, passkey]), ...(first && { recovery_codes: kept }) }
  })
  const next = await renewSession(parts, cookie, { secure: cameByTls(parts, call) })
  return renewed(next, 'Passkey registered', first ? { recovery_codes: codes } : {})
}

async function rename(parts: DashboardParts, call: Call): Promise<Answer> {
  const { user } = await browserOf(parts, call)
  const name = String(call.object().name)
  await rewriteUser(parts, user.id, { actor: emailOf(user.body), action: 'Rename passkey' }, (body) => {
    const { passkeys } = securityOf(body)
    const { id } = known(passkeys, call.param('id'))
    return {
      ...body,
      passkeys: passkeysJson(passkeys.map((passkey) => (passkey.id === id ? { ...passkey, name } : passkey))),
    }
  })
  return ok('Passkey updated')
}

async function remove(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, user } = await freshBrowserOf(parts, call)
  const required = await requiresSecondFactor(parts, user.body.org_id)
  await rewriteUser(parts, user.id, { actor: emailOf(user.body), action: 'Delete passkey' }, (body) => {
    const { passkeys } = securityOf(body)
    const { id } = known(passkeys, call.param('id'))
    const after: JsonObject = { ...body, passkeys: passkeysJson(passkeys.filter((passkey) => passkey.id !== id)) }
    if (hasSecondFactor(securityOf(after))) return after
    if (required) throw fault('second_factor_state', 'The organisation requires a second factor')
    return { ...after, recovery_codes: [] }
  })
  return renewed(await renewSession(parts, cookie, { secure: cameByTls(parts, call) }), 'Passkey deleted')
}

/** @throws Fault `not_found` (404) */
function known(passkeys: readonly StoredPasskey[], id: string): StoredPasskey {
  const passkey = passkeys.find((one) => one.id === id)
  if (passkey === undefined) throw fault('not_found', 'Passkey not found')
  return passkey
}

const emailOf = (body: JsonObject) => String(body.email_address ?? '')
