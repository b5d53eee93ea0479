import { fault, toFault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { verifyPassword } from '../../model/passwords/passwords.ts'
import { toEmail } from '../../model/people/user.ts'
import { bindTo, securityOf } from '../../model/people/user-security.ts'
import { withLock } from '../../publish/documents/parts.ts'
import { changePassword, sharingPassword, stampOf } from '../../publish/sign-in/passwords.ts'
import { putUser } from '../../publish/sign-in/rewrite-user.ts'
import { isThrottled, type Throttled } from '../../runtime/login-throttle.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { beginAttempt, throttled, visitorBy } from './attempts.ts'
import { cameByTls, relyingParty } from './origin.ts'
import { assertionOptions } from './passkeys.ts'
import { confirmTotp, secondFactorName, usePasskey, useSecondFactor, withAttemptLimit } from './second-factor.ts'
import { type OpenedSession, openSession } from './sessions.ts'
import { type SignInProgress, signInProgressOf } from './sign-in-progress.ts'
import { consumeSignIn, countAttempt, newSignIn, readSignIn, type SignIn, storeSignIn } from './sign-in-state.ts'
import { ssoSourceOf } from './sso-source.ts'
import { newTotpSecret, otpauthUri, sealTotp, unsealTotp } from './totp.ts'
import { usersWithPassword } from './users-with-password.ts'

/** The result of a sign-in call. */
export type SignInResult =
  | { readonly done: OpenedSession; readonly user: StoredDocument; readonly recoveryCodes: readonly string[] }
  /** The next needs; the ticket is in it. */
  | { readonly next: JsonObject }

/** Input that continues a sign-in. */
export interface SignInInput {
  readonly org_id?: string
  readonly code?: string
  readonly recovery_code?: string
  readonly passkey?: Json
  readonly new_password?: string
}

const MOST_SHARING = 100

/**
 * Signs in with an email address and a password. Unknown and unusable accounts get the same answer after the
 * same work as with a wrong password.
 * @throws Fault `sign_in_failed` (401), `sign_in_throttled` (429) with the seconds to wait, `passwords_busy` (503)
 */
export async function signInWithPassword(
  parts: DashboardParts,
  call: Call,
  sent: { readonly address: string; readonly password: string; readonly orgId?: string },
): Promise<SignInResult> {
  // By the address as it is looked for, so that no spelling is another name.
  const name = toEmail(sent.address) ?? sent.address.trim().toLowerCase().slice(0, 254)
  const begun = beginAttempt(parts, `password:${name}`, call)
  if (isThrottled(begun)) return refuse(parts, call, sent.password, begun)
  let users: StoredDocument[]
  try {
    users = await usersWithPassword(parts, sent, begun)
  } catch (error) {
    begun.giveBack()
    throw error
  }
  if (users.length === 0) throw fault('sign_in_failed')
  const candidates = users.map((user) => ({ id: user.id, stamp: stampOf(user) }))
  const result = await advanceSignIn(parts, call, newSignIn(candidates, 'password'))
  begun.succeed()
  return result
}

/** @throws Fault `sign_in_throttled`, or what a wrong password gets */
async function refuse(parts: DashboardParts, call: Call, password: string, wait: Throttled): Promise<never> {
  if (!parts.config.dashboard.security.hide_login_failure_limit_error) throw throttled(wait)
  await verifyPassword(undefined, password, { visitor: visitorBy(parts, call) })
  throw fault('sign_in_failed')
}

/** Continues a sign-in from its current state. `recoveryCodes` were created on the way. */
export async function advanceSignIn(
  parts: DashboardParts,
  call: Call,
  signIn: SignIn,
  recoveryCodes: readonly string[] = [],
): Promise<SignInResult> {
  const advance = async (): Promise<SignInResult> => {
    const progress = await signInProgressOf(parts, signIn.state)
    if (progress.need !== 'nothing') return { next: await show(parts, call, signIn, progress) }
    return { done: await enter(parts, call, signIn, progress.user), user: progress.user, recoveryCodes }
  }
  try {
    // Serialised with all other changes of users in this process: many may sign in as one user at once. A user who was changed in between
    // may have become inactive.
    return await retryOnConflict(() => withLock(parts, advance))
  } catch (error) {
    throw voided(error)
  }
}

/**
 * Continues a sign-in with what it still needs. @throws Fault `sign_in_void` (401), `second_factor_wrong` (401), `passkey_invalid`,
 * `password_invalid` (400), `sign_in_refused` (403), `sign_in_throttled` (429)
 */
export async function continueSignIn(
  parts: DashboardParts,
  call: Call,
  ticket: string,
  given: SignInInput,
): Promise<SignInResult> {
  const signIn = await readSignIn(parts, ticket)
  const progress = await signInProgressOf(parts, signIn.state)
  switch (progress.need) {
    case 'organisation':
      return advanceSignIn(parts, call, chooseOrganisation(signIn, progress.users, given))
    case 'second_factor':
      // After single sign-on the browser asks for the next step.
      if (given.code === undefined && given.recovery_code === undefined && given.passkey === undefined)
        return advanceSignIn(parts, call, signIn)
      return advanceSignIn(parts, call, await showSecondFactor(parts, call, signIn, progress.user, given))
    case 'new_password':
      return advanceSignIn(parts, call, await setNewPassword(parts, signIn, progress.user, given))
    case 'enrolment':
      return enrol(parts, call, signIn, progress.user, given)
    case 'nothing':
      return advanceSignIn(parts, call, signIn)
  }
}

function chooseOrganisation(signIn: SignIn, users: readonly StoredDocument[], { org_id: orgId }: SignInInput): SignIn {
  const chosen = users.find(({ body }) => body.org_id === orgId)
  if (chosen === undefined) throw fault('sign_in_refused', 'org_id: is not one of the organisations')
  return { ...signIn, state: { ...signIn.state, user: chosen.id } }
}

async function showSecondFactor(
  parts: DashboardParts,
  call: Call,
  signIn: SignIn,
  user: StoredDocument,
  given: SignInInput,
): Promise<SignIn> {
  const rewrite = { actor: emailOf(user), action: 'Show second factor' }
  const taken = await countAttempt(parts, signIn)
  await withAttemptLimit(parts, secondFactorName(user.id), call, async () => {
    if (given.passkey === undefined) return useSecondFactor(parts, user.id, given, rewrite)
    const answer = { rp: relyingParty(parts, call), challenge: signIn.state.challenge, response: given.passkey }
    return usePasskey(parts, user.id, answer, rewrite)
  })
  return storeSignIn(parts, { ...taken, state: { ...taken.state, second: true, challenge: '' } })
}

async function setNewPassword(
  parts: DashboardParts,
  signIn: SignIn,
  user: StoredDocument,
  { new_password: password }: SignInInput,
): Promise<SignIn> {
  if (password === undefined) throw fault('password_invalid', 'new_password: is missing')
  const users = [user, ...(await sharingPassword(parts, user, MOST_SHARING))]
  const history = parts.config.dashboard.security.enforce_password_history
  await changePassword(parts, { users, password, history, mustDiffer: true, actor: emailOf(user) })
  const changed = await parts.documents.get('user', user.id)
  if (changed === undefined) throw fault('sign_in_void')
  const candidates = [{ id: user.id, stamp: stampOf(changed) }]
  return storeSignIn(parts, { ...signIn, state: { ...signIn.state, candidates, user: user.id, renewed: true } })
}

async function enrol(
  parts: DashboardParts,
  call: Call,
  signIn: SignIn,
  user: StoredDocument,
  { code }: SignInInput,
): Promise<SignInResult> {
  const { enrolling: sealed } = signIn.state
  if (code === undefined || sealed === '') return advanceSignIn(parts, call, signIn)
  const taken = await countAttempt(parts, signIn)
  const rewrite = { actor: emailOf(user), action: 'Set up second factor' }
  const codes = await withAttemptLimit(parts, secondFactorName(user.id), call, () =>
    confirmTotp(parts, user.id, { sealed, code }, rewrite),
  )
  const next = await storeSignIn(parts, { ...taken, state: { ...taken.state, second: true, enrolling: '' } })
  return advanceSignIn(parts, call, next, codes)
}

/** Opens the session: in one commit with the end of the sign-in and the date of it. */
async function enter(parts: DashboardParts, call: Call, signIn: SignIn, user: StoredDocument): Promise<OpenedSession> {
  const { identity = '' } = signIn.state
  const seen = { ...user.body, last_login_date: new Date(parts.clock.wall()).toISOString() }
  const body = identity === '' ? seen : bindTo(seen, identity)
  const who = { id: user.id, email: emailOf(user), orgId: String(user.body.org_id ?? '') }
  return openSession(parts, who, signIn.state.via, {
    secure: cameByTls(parts, call),
    clientAddress: call.clientAddress,
    agent: call.header('user-agent'),
    subject: signIn.state.subject,
    opener: ssoSourceOf(signIn.state.opener),
    guarantor: signIn.state.guarantor,
    proven: signIn.state.second || signIn.state.guarantor === undefined,
    changes: [...consumeSignIn(parts, signIn), putUser(user, body)],
  })
}

/** The next needs of the caller; the sign-in is kept for it. */
async function show(
  parts: DashboardParts,
  call: Call,
  signIn: SignIn,
  progress: Exclude<SignInProgress, { need: 'nothing' }>,
): Promise<JsonObject> {
  const { need } = progress
  if (progress.need === 'organisation') {
    const { text } = await storeSignIn(parts, signIn)
    return { needs: need, ticket: text, organisations: await named(parts, progress.users) }
  }
  const { user } = progress
  if (progress.need === 'second_factor') return askSecondFactor(parts, call, signIn, user)
  if (progress.need === 'new_password') return { needs: need, ticket: (await storeSignIn(parts, signIn)).text }
  const { enrolling } = signIn.state
  const secret = enrolling === '' ? newTotpSecret() : unsealTotp(parts.sealKey, user.id, enrolling)
  const state = { ...signIn.state, user: user.id, enrolling: sealTotp(parts.sealKey, user.id, secret) }
  const { text } = await storeSignIn(parts, { ...signIn, state })
  return { needs: need, ticket: text, otpauth_uri: otpauthUri(secret, emailOf(user)), secret }
}

async function askSecondFactor(
  parts: DashboardParts,
  call: Call,
  signIn: SignIn,
  user: StoredDocument,
): Promise<JsonObject> {
  const { totp, passkeys, recovery_codes: codes } = securityOf(user.body)
  const options = passkeys.length === 0 ? undefined : await passkeyOptions(parts, call, user)
  const state = { ...signIn.state, user: user.id, challenge: options?.challenge ?? '' }
  const { text } = await storeSignIn(parts, { ...signIn, state })
  const methods = [
    ...(totp === undefined ? [] : ['code']),
    ...(options === undefined ? [] : ['passkey']),
    ...(codes.length === 0 ? [] : ['recovery_code']),
  ]
  return { needs: 'second_factor', ticket: text, methods, ...(options && { passkey_options: options }) }
}

/** Undefined where passkeys do not work: recovery codes do. */
async function passkeyOptions(parts: DashboardParts, call: Call, user: StoredDocument) {
  try {
    return await assertionOptions(relyingParty(parts, call), securityOf(user.body).passkeys)
  } catch (error) {
    if (toFault(error).code === 'passkeys_unavailable') return undefined
    throw error
  }
}

async function named(parts: DashboardParts, users: readonly StoredDocument[]): Promise<Json[]> {
  const list: Json[] = []
  for (const { body } of users) {
    const { org_id: orgId } = body
    const organisation = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
    list.push({ id: String(orgId ?? ''), name: String(organisation?.body.owner_name ?? '') })
  }
  return list
}

const emailOf = ({ body }: StoredDocument) => String(body.email_address ?? '')

/** Two calls with one ticket: the other one was first. */
function voided(error: unknown): unknown {
  return toFault(error).code === 'ticket_unusable' ? fault('sign_in_void') : error
}
