import { fault, toFault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { asJson, isObject, type JsonObject } from '../../model/json/json.ts'
import { activeFamily } from '../../model/people/user-security.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { IdpSubject } from './idp-subject.ts'
import { ticketHash } from './sessions.ts'

/** How long a sign-in may be on its way. */
export const SIGN_IN_MS = 600_000
/** Wrong answers before it ends. */
const MOST_TRIES = 5

/** An account that the caller has shown the password or a passkey of. */
export interface SignInCandidate {
  readonly id: DocumentId
  /** Changes with the password: a sign-in that was begun with another one ends. */
  readonly stamp: string
}

/** A sign-in on its way: what has been proved so far. */
export interface SignInState {
  readonly candidates: readonly SignInCandidate[]
  /** Of them the one who signs in; '' = not chosen yet. */
  readonly user: DocumentId | ''
  readonly via: 'password' | 'passkey' | 'sso'
  /** True when a second factor was shown, or a passkey that counts for both. */
  readonly second: boolean
  /** True when the password was set on the way. */
  readonly renewed: boolean
  /** Challenge that a passkey must answer as second factor; '' = none. */
  readonly challenge: string
  /** Secret, sealed, of a second factor that is being set up; '' = none. */
  readonly enrolling: string
  readonly tries: number
  /** Who a SAML identity provider said it is. */
  readonly subject?: IdpSubject | undefined
  /** The identity that the account is bound to when the sign-in is done: `boundIdentity`. */
  readonly identity?: string
  /** `ssoSourceBody` of what single sign-on let the person in by. */
  readonly opener?: JsonObject
  /** The guarantor, as the session stores it. */
  readonly guarantor?: JsonObject
}

/** A sign-in as its ticket has it. */
export interface SignIn {
  /** The browser's secret of it; nobody else knows it. */
  readonly text: string
  /** 0 = not kept yet. */
  readonly version: number
  readonly state: SignInState
}

/** A sign-in that has just begun. */
export function newSignIn(
  candidates: readonly SignInCandidate[],
  via: SignInState['via'],
  elsewhere: Pick<SignInState, 'subject' | 'identity' | 'opener' | 'guarantor'> = {},
): SignIn {
  const user = candidates.length === 1 ? candidates[0]!.id : ''
  const second = via === 'passkey'
  const state: SignInState = { candidates, user, via, second, renewed: false, challenge: '', enrolling: '', tries: 0 }
  return { text: newSecret(), version: 0, state: { ...state, ...elsewhere } }
}

/** The sign-in of a ticket. @throws Fault `sign_in_void` (401) when it has expired or was finished */
export async function readSignIn(parts: DashboardParts, text: string): Promise<SignIn> {
  const row = await parts.tokens.getTicket(hashOf(text))
  if (row === undefined || row.sort !== 'sign_in' || row.claimedAt > 0 || row.expiresAt <= parts.clock.wall())
    throw fault('sign_in_void')
  const { vouched, ...state } = row.body
  const guarantor = isObject(vouched) ? { guarantor: vouched } : {}
  return { text, version: row.version, state: { ...(state as unknown as SignInState), ...guarantor } }
}

/** The stored form. Nodes of earlier versions finish what others began: the name of the guarantor in it stays. */
function bodyOf({ guarantor, ...state }: SignInState): JsonObject {
  return asJson({ ...state, ...(guarantor !== undefined && { vouched: guarantor }) })
}

/**
 * Keeps a sign-in, over what was read of it; `changes` go into the same commit.
 * @throws Fault `sign_in_void` (401) when another call was first, those of the changes
 */
export async function storeSignIn(
  parts: DashboardParts,
  { text, version, state }: SignIn,
  changes: readonly Change[] = [],
): Promise<SignIn> {
  const expiresAt = parts.clock.wall() + SIGN_IN_MS
  const body = bodyOf(state)
  const family = state.user === '' ? '' : activeFamily(state.user)
  const row = newTicket('sign_in', expiresAt, { family, body })
  const change: Change = { op: 'putTicket', hash: hashOf(text), row }
  const kept: Change = { ...change, ...(version === 0 ? { ifAbsent: true } : { ifVersion: version }) }
  if (changes.length > 0) await parts.documents.commit([...changes, kept], undefined)
  else await commit(parts, kept)
  return { text, version: version + 1, state }
}

/**
 * Counts an answer before it is looked at, so that many at once are not more.
 * @throws Fault `sign_in_void` (401) when it was one too many, which ends the sign-in, or another call was first
 */
export async function countAttempt(parts: DashboardParts, signIn: SignIn): Promise<SignIn> {
  const { text, state } = signIn
  if (state.tries >= MOST_TRIES) {
    await parts.documents.commit([{ op: 'deleteTicket', hash: hashOf(text) }], undefined)
    throw fault('sign_in_void')
  }
  return storeSignIn(parts, { ...signIn, state: { ...state, tries: state.tries + 1 } })
}

/** The change that uses a sign-in up; none for one that was never kept. */
export function consumeSignIn(parts: DashboardParts, { text, version }: SignIn): Change[] {
  return version === 0 ? [] : [{ op: 'claimTicket', hash: hashOf(text), sort: 'sign_in', now: parts.clock.wall() }]
}

const hashOf = (text: string) => ticketHash('sign_in', text)

async function commit(parts: DashboardParts, change: Change): Promise<void> {
  try {
    await parts.documents.commit([change], undefined)
  } catch (error) {
    if (toFault(error).code !== 'ticket_unusable') throw error
    throw fault('sign_in_void')
  }
}
