import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { type JsonObject, startsObject } from '../../model/json/json.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { stampOf } from '../../publish/sign-in/passwords.ts'
import { isUnbounded } from '../access/actor.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import { JSON_OR_FORM } from '../server/form-or-json.ts'
import type { DashboardParts } from '../server/parts.ts'
import { logoutElsewhere } from '../single-sign-on/saml-logout.ts'
import { uncached, withCookie } from './browser.ts'
import { storeChallenge, takeChallenge } from './challenges.ts'
import { endedCookie, readSessionCookie } from './cookie.ts'
import { cameByTls, checkOrigin, relyingParty } from './origin.ts'
import { assertionOptions, ownerOfAssertion } from './passkeys.ts'
import {
  CONTINUE_BODY,
  OK,
  PASSKEY_BODY,
  PASSKEY_LOGIN_OPTIONS,
  SESSION,
  SIGN_IN_ANSWER,
  SIGNED_OUT,
} from './schemas.ts'
import { usePasskey, withAttemptLimit } from './second-factor.ts'
import { endSession, endSessions, sessionOf } from './sessions.ts'
import { advanceSignIn, continueSignIn, type SignInInput, type SignInResult, signInWithPassword } from './sign-in.ts'
import { newSignIn } from './sign-in-state.ts'

/** Signing in and out of the dashboard in a browser. */
export function signInRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/login',
      access: 'public',
      summary: 'Sign in with email address and password',
      body: Type.Object({
        email: Type.String({ description: 'Email address of the user.' }),
        password: Type.String({ description: 'Password of the user.' }),
        org_id: Type.Optional(Type.String({ description: 'Where the address has an account in several.' })),
      }),
      // JSON, or the form of a page.
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      refusals: [401, 403, 409],
      answers: { 200: SIGN_IN_ANSWER },
      run: (call) => login(parts, call),
    },
    {
      method: 'POST',
      path: '/api/login/continue',
      access: 'public',
      summary: 'Continue a sign-in with the next factor',
      body: CONTINUE_BODY,
      refusals: [401, 403, 409],
      answers: { 200: SIGN_IN_ANSWER },
      run: async (call) => {
        checkOrigin(parts, call)
        const { ticket, ...given } = call.object()
        return shown(await continueSignIn(parts, call, String(ticket), given as SignInInput))
      },
    },
    {
      method: 'POST',
      path: '/api/login/passkey/options',
      access: 'public',
      summary: 'Start a passkey sign-in',
      refusals: [401, 403, 409],
      answers: { 200: PASSKEY_LOGIN_OPTIONS },
      run: (call) => passkeyOptions(parts, call),
    },
    {
      method: 'POST',
      path: '/api/login/passkey',
      access: 'public',
      summary: 'Sign in with a passkey',
      body: PASSKEY_BODY,
      refusals: [401, 403, 409],
      answers: { 200: SIGN_IN_ANSWER },
      run: (call) => loginWithPasskey(parts, call),
    },
    {
      method: 'GET',
      path: '/api/session',
      access: 'signed-in',
      summary: 'Read the session, with the CSRF token for writing calls',
      answers: { 200: SESSION },
      run: (call) => session(parts, call),
    },
    {
      method: 'POST',
      path: '/api/logout',
      access: 'signed-in',
      summary: 'Sign out',
      answers: { 200: SIGNED_OUT },
      run: async (call) => {
        const cookie = readSessionCookie(call.header('cookie'))
        if (call.actor?.sessionId === undefined || cookie === undefined) throw fault('session_needed')
        const session = await sessionOf(parts, cookie)
        await endSession(parts, cookie)
        const location = session?.subject && (await logoutElsewhere(parts, call, session.subject))
        const meta = location === undefined ? null : { location }
        return withCookie(ok('Signed out', meta), endedCookie(cameByTls(parts, call)))
      },
    },
    {
      method: 'POST',
      path: '/api/logout/everywhere',
      access: 'signed-in',
      summary: 'Sign out of all browser sessions',
      answers: { 200: OK },
      run: async (call) => {
        await endSessions(parts, call.actor!.userId)
        return withCookie(ok('Signed out everywhere'), endedCookie(cameByTls(parts, call)))
      },
    },
  ]
}

async function login(parts: DashboardParts, call: Call): Promise<Answer> {
  checkOrigin(parts, call)
  const { email, password, org_id: orgId } = sentLogin(call)
  if (typeof email !== 'string' || typeof password !== 'string')
    throw fault('body_invalid', 'email and password are needed')
  const named = typeof orgId === 'string' ? { orgId } : {}
  return shown(await signInWithPassword(parts, call, { address: email, password, ...named }))
}

/** JSON by its first character, with any Content-Type; otherwise a form. */
function sentLogin(call: Call): JsonObject {
  return startsObject(call.bytes()) ? call.object() : Object.fromEntries(call.form())
}

async function passkeyOptions(parts: DashboardParts, call: Call): Promise<Answer> {
  checkOrigin(parts, call)
  const options = await assertionOptions(relyingParty(parts, call))
  const ticket = newSecret()
  await storeChallenge(parts, { owner: ticket, purpose: 'login' }, { challenge: options.challenge })
  return uncached(ok('Use a passkey', { ticket, options }))
}

async function loginWithPasskey(parts: DashboardParts, call: Call): Promise<Answer> {
  checkOrigin(parts, call)
  const { ticket, response } = call.object()
  const { challenge } = await takeChallenge(parts, { owner: String(ticket), purpose: 'login' })
  const userId = ownerOfAssertion(response)
  const user = userId === undefined ? undefined : await parts.documents.get('user', userId)
  if (user === undefined) throw fault('passkey_invalid')
  const answer = { rp: relyingParty(parts, call), challenge: String(challenge), response }
  const rewrite = { actor: String(user.body.email_address), action: 'Show passkey' }
  await withAttemptLimit(parts, undefined, call, () => usePasskey(parts, user.id, answer, rewrite))
  return shown(await advanceSignIn(parts, call, newSignIn([{ id: user.id, stamp: stampOf(user) }], 'passkey')))
}

function shown(result: SignInResult): Answer {
  if ('next' in result) return uncached(ok('More is needed to sign in', result.next))
  const { done, user, recoveryCodes } = result
  const meta = {
    user_id: user.id,
    email_address: String(user.body.email_address ?? ''),
    org_id: String(user.body.org_id ?? ''),
    csrf_token: done.csrf,
    ...(recoveryCodes.length > 0 && { recovery_codes: [...recoveryCodes] }),
  }
  return withCookie(ok('Signed in', meta), done.cookie)
}

async function session(parts: DashboardParts, call: Call): Promise<Answer> {
  const { userId, email, orgId, groupId, permissions, admin, sessionId } = call.actor!
  const browser = sessionId === undefined ? undefined : await sessionOf(parts, readSessionCookie(call.header('cookie')))
  const stored = isDocumentId(userId) ? (await parts.documents.get('user', userId))?.body : undefined
  const body = stored ?? browser?.guest ?? {}
  const organisation = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
  return uncached(
    bare({
      user: {
        id: userId,
        email_address: email,
        first_name: text(body.first_name),
        last_name: text(body.last_name),
        group_id: groupId,
        is_admin: admin,
        permissions: { ...permissions },
      },
      organisation: organisation === undefined ? null : { id: orgId, name: text(organisation.body.owner_name) },
      unbounded: isUnbounded(call.actor!),
      csrf_token: browser?.csrf ?? '',
      via: browser?.via ?? 'credential',
    }),
  )
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
