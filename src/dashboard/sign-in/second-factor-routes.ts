import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { verifyPassword } from '../../model/passwords/passwords.ts'
import { hasSecondFactor, securityOf, type UserSecurity } from '../../model/people/user-security.ts'
import { requireSecondFactor } from '../../publish/sign-in/require-second-factor.ts'
import { rewriteUser } from '../../publish/sign-in/rewrite-user.ts'
import { userToReset } from '../people/find-people.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import { webAddress } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { type Browser, browserOf, freshBrowserOf, renewed, uncached } from './browser.ts'
import { openChallenge, storeChallenge, takeChallenge } from './challenges.ts'
import { cameByTls, relyingParty } from './origin.ts'
import { assertionOptions } from './passkeys.ts'
import { CREDENTIAL, OK, okWith, PASSKEY_OPTIONS, RENEWED } from './schemas.ts'
import {
  confirmTotp,
  freshRecovery,
  secondFactorName,
  usePasskey,
  useSecondFactor,
  withAttemptLimit,
} from './second-factor.ts'
import { endSessionsChange, renewSession } from './sessions.ts'
import { requiresSecondFactor } from './sign-in-progress.ts'
import { newTotpSecret, otpauthUri, sealTotp } from './totp.ts'

const CODES = {
  code: Type.Optional(Type.String({ description: 'Code of an authenticator app.' })),
  recovery_code: Type.Optional(Type.String({ description: 'A recovery code, which is used up.' })),
}

const STATE = Type.Object(
  {
    totp: Type.Object(
      {
        enabled: Type.Boolean({ description: 'True while sign-ins ask for a code of an authenticator app.' }),
        confirmed_at: Type.String({
          description: 'Time at which the first code was confirmed (RFC 3339). Blank: never.',
        }),
      },
      { description: 'One-time passwords of an authenticator app (TOTP).' },
    ),
    passkeys: Type.Integer({ description: 'Number of passkeys.' }),
    recovery_codes_left: Type.Integer({ description: 'Number of recovery codes that are not used up.' }),
    required: Type.Boolean({ description: 'By the organisation.' }),
  },
  { title: 'SecondFactorState' },
)

/** The second factor of the caller: TOTP codes, recovery codes; verification of the identity again. */
export function secondFactorRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/session/verify',
      access: 'signed-in',
      summary: 'Reauthenticate; the session continues under a new id',
      body: Type.Object({
        password: Type.Optional(Type.String({ description: 'Password of the user.' })),
        ...CODES,
        passkey: Type.Optional(CREDENTIAL),
      }),
      answers: { 200: RENEWED },
      run: (call) => verify(parts, call),
    },
    {
      method: 'POST',
      path: '/api/session/verify/options',
      access: 'signed-in',
      summary: 'Get the passkey options to reauthenticate',
      answers: { 200: okWith(PASSKEY_OPTIONS, 'PasskeyOptionsAnswer') },
      run: (call) => verifyOptions(parts, call),
    },
    {
      method: 'GET',
      path: '/api/second-factor',
      access: 'signed-in',
      summary: 'Read the second factor of the caller',
      answers: { 200: STATE },
      run: (call) => state(parts, call),
    },
    {
      method: 'POST',
      path: '/api/second-factor/totp',
      access: 'signed-in',
      summary: 'Start the set-up of one-time passwords (TOTP)',
      answers: {
        200: okWith(
          Type.Object(
            {
              otpauth_uri: webAddress('URI for an authenticator app.'),
              secret: Type.String({ description: 'Secret of the same, for typing.' }),
            },
            { title: 'TotpSecret', description: 'What an authenticator app needs. It is shown now, and never again.' },
          ),
          'TotpSecretAnswer',
        ),
      },
      run: (call) => beginTotp(parts, call),
    },
    {
      method: 'POST',
      path: '/api/second-factor/totp/confirm',
      access: 'signed-in',
      summary: 'Enable one-time passwords (TOTP) with the first code; returns recovery codes, once',
      body: Type.Object({ code: Type.String({ description: 'Code of an authenticator app.' }) }),
      answers: { 200: RENEWED },
      run: (call) => finishTotp(parts, call),
    },
    {
      method: 'POST',
      path: '/api/second-factor/totp/disable',
      access: 'signed-in',
      summary: 'Disable one-time passwords (TOTP); needs the password and a code',
      body: Type.Object({ password: Type.String({ description: 'Password of the user.' }), ...CODES }),
      answers: { 200: RENEWED },
      run: (call) => disableTotp(parts, call),
    },
    {
      method: 'POST',
      path: '/api/second-factor/recovery-codes',
      access: 'signed-in',
      summary: 'Regenerate the recovery codes',
      answers: { 200: RENEWED },
      run: (call) => renewRecovery(parts, call),
    },
    {
      method: 'DELETE',
      path: '/api/users/{id}/second-factor',
      access: 'admin',
      summary: 'Remove the second factor of a user and end its sessions',
      answers: { 200: OK },
      run: (call) => takeFrom(parts, call),
    },
    {
      method: 'PUT',
      path: '/api/org/second-factor',
      access: 'admin',
      summary: 'Set whether all users of the organisation need a second factor',
      body: Type.Object({
        required: Type.Boolean({ description: 'true: every user of the organisation needs a second factor.' }),
      }),
      answers: { 200: OK },
      run: async (call) => {
        const { orgId, email } = call.actor!
        if (!isDocumentId(orgId)) throw fault('not_found', 'Organisation not found')
        await requireSecondFactor(parts, orgId, call.object().required === true, email)
        return ok('Organisation updated')
      },
    },
  ]
}

async function verify(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, session, user } = await browserOf(parts, call)
  const { password, passkey, ...codes } = call.object()
  const rewrite = { actor: emailOf(user), action: 'Verify session' }
  await withAttemptLimit(parts, secondFactorName(user.id), call, async () => {
    if (passkey !== undefined) {
      const { challenge } = await takeChallenge(parts, { owner: session.sessionId, purpose: 'verify' })
      await usePasskey(
        parts,
        user.id,
        { rp: relyingParty(parts, call), challenge: String(challenge), response: passkey },
        rewrite,
      )
    } else if (password !== undefined && !hasSecondFactor(securityOf(user.body)))
      await checkOwnPassword(securityOf(user.body), password)
    else await useSecondFactor(parts, user.id, codes, rewrite)
  })
  return renewed(await renewSession(parts, cookie, { secure: cameByTls(parts, call) }), 'Session verified')
}

async function verifyOptions(parts: DashboardParts, call: Call): Promise<Answer> {
  const { session, user } = await browserOf(parts, call)
  const options = await assertionOptions(relyingParty(parts, call), securityOf(user.body).passkeys)
  await storeChallenge(parts, { owner: session.sessionId, purpose: 'verify' }, { challenge: options.challenge })
  return uncached(ok('Use a passkey', options))
}

async function state(parts: DashboardParts, call: Call): Promise<Answer> {
  const { userId, orgId } = call.actor!
  const user = isDocumentId(userId) ? await parts.documents.get('user', userId) : undefined
  const { totp, passkeys, recovery_codes: codes } = securityOf(user?.body ?? {})
  return bare({
    totp: { enabled: totp !== undefined, confirmed_at: totp?.confirmed_at ?? '' },
    passkeys: passkeys.length,
    recovery_codes_left: codes.length,
    required: await requiresSecondFactor(parts, orgId),
  })
}

async function beginTotp(parts: DashboardParts, call: Call): Promise<Answer> {
  const { session, user } = await freshBrowserOf(parts, call)
  if (securityOf(user.body).totp !== undefined) throw fault('second_factor_state', 'Codes by time are set up already')
  const secret = newTotpSecret()
  const sealed = sealTotp(parts.sealKey, user.id, secret)
  await storeChallenge(parts, { owner: session.sessionId, purpose: 'totp' }, { sealed })
  return uncached(ok('Scan the code, then confirm', { otpauth_uri: otpauthUri(secret, emailOf(user)), secret }))
}

async function finishTotp(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, session, user } = await freshBrowserOf(parts, call)
  const owner = { owner: session.sessionId, purpose: 'totp' }
  const open = await openChallenge(parts, owner)
  if (open === undefined) throw fault('second_factor_state', 'Codes by time are not being set up')
  const rewrite = { actor: emailOf(user), action: 'Set up second factor' }
  const given = { sealed: String(open.sealed), code: String(call.object().code) }
  const codes = await withAttemptLimit(parts, secondFactorName(user.id), call, () =>
    confirmTotp(parts, user.id, given, rewrite),
  )
  const next = await renewSession(parts, cookie, { secure: cameByTls(parts, call) })
  return renewed(next, 'Second factor set up', { recovery_codes: codes })
}

async function disableTotp(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, user } = await browserOf(parts, call)
  const { password, ...codes } = call.object()
  const before = securityOf(user.body)
  if (before.totp === undefined) throw fault('second_factor_state', 'Codes by time are not set up')
  if (before.passkeys.length === 0 && (await requiresSecondFactor(parts, user.body.org_id)))
    throw fault('second_factor_state', 'The organisation requires a second factor')
  const rewrite = { actor: emailOf(user), action: 'End second factor' }
  await withAttemptLimit(parts, secondFactorName(user.id), call, async () => {
    await checkOwnPassword(before, password)
    await useSecondFactor(parts, user.id, codes, rewrite, withoutTotp)
  })
  return renewed(await renewSession(parts, cookie, { secure: cameByTls(parts, call) }), 'Second factor ended')
}

async function renewRecovery(parts: DashboardParts, call: Call): Promise<Answer> {
  const { cookie, user } = await freshBrowserOf(parts, call)
  const { codes, kept } = freshRecovery(parts, user.id)
  await rewriteUser(parts, user.id, { actor: emailOf(user), action: 'Make recovery codes' }, (body) => {
    if (!hasSecondFactor(securityOf(body))) throw fault('second_factor_state', 'There is no second factor')
    return { ...body, recovery_codes: kept }
  })
  const next = await renewSession(parts, cookie, { secure: cameByTls(parts, call) })
  return renewed(next, 'Recovery codes made', { recovery_codes: codes })
}

/** Users who may set the password of others may take their second factor: together they open the account. */
async function takeFrom(parts: DashboardParts, call: Call): Promise<Answer> {
  // One's own is ended with the password and a code, so that a session that was stolen cannot.
  const user = await userToReset(parts, call.actor!, call.param('id'))
  const rewrite = { actor: call.actor!.email, action: 'Take second factor', changes: [endSessionsChange(user.id)] }
  await rewriteUser(parts, user.id, rewrite, ({ totp, passkeys, recovery_codes, ...rest }) => rest)
  return ok('User updated')
}

/** Recovery codes are deleted with the last factor that they can replace. */
function withoutTotp({ totp: _totp, ...rest }: JsonObject): JsonObject {
  return hasSecondFactor(securityOf(rest)) ? rest : { ...rest, recovery_codes: [] }
}

/** @throws Fault `current_password_wrong` (403) */
async function checkOwnPassword({ password_hash: stored }: UserSecurity, password: unknown): Promise<void> {
  const right = await verifyPassword(stored, typeof password === 'string' ? password : '')
  if (!right) throw fault('current_password_wrong')
}

const emailOf = ({ body }: Pick<Browser['user'], 'body'>) => String(body.email_address ?? '')
