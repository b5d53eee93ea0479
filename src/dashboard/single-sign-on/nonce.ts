import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { fault, toFault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { ssoEpochOf } from '../../model/organisations/organisation.ts'
import { toEmail } from '../../model/people/user.ts'
import { activeFamily } from '../../model/people/user-security.ts'
import { auditOf } from '../../publish/documents/parts.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import { findByEmail } from '../../publish/people/users.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { addressStatusOf } from './claims.ts'
import { personBody, personOf, type SsoGuarantor, type SsoPerson, UNNAMED } from './person.ts'

/** How long a nonce can be used. */
const NONCE_MS = 60_000
const LONGEST = 256
const MOST_GROUPS = 100

/** Where a nonce opens a session. */
export type Section = 'dashboard' | 'portal'

/** The person for whom a trusted program asks for a sign-in nonce, as the call names it. */
export interface NonceRequest {
  readonly section: Section
  readonly person: SsoPerson
  /** The caller knows already that the user must be refused: the browser gets the message. */
  readonly notAllowed: boolean
}

/**
 * Reads the body of a call for a nonce. `orgId` is the organisation of the caller, whose nonces are for it alone; undefined = the
 * installation, which names one. @throws Fault `sso_payload_invalid` (400)
 */
export async function readNonceRequest(
  parts: DashboardParts,
  body: JsonObject,
  caller: { readonly orgId?: string; readonly guarantor?: SsoGuarantor },
): Promise<NonceRequest> {
  const { ForSection: section = 'dashboard', UserNotAllowed: notAllowed = false } = body
  if (section !== 'dashboard' && section !== 'portal') throw invalid('ForSection must be dashboard or portal')
  const orgId = textOf(body, 'OrgID') || (caller.orgId ?? parts.defaultOrg())
  const foreign = caller.orgId !== undefined && caller.orgId !== orgId
  const organisation = await findOrganisation(parts, orgId)
  // That of others looks like one that is not there.
  if (foreign || organisation === undefined) throw invalid(`Org id not found ('${orgId.slice(0, LONGEST)}').`)
  const given =
    (['EmailAddress', 'Email'] as const).map((name) => checkedText(body, name)).find((text) => text.trim() !== '') ?? ''
  const groups = readGroups(body)
  const person: SsoPerson = {
    orgId,
    email: readEmail(given),
    // The caller that asks for a nonce has authenticated the person.
    address: addressStatusOf(given, 'verified'),
    identity: '',
    displayName: textOf(body, 'DisplayName'),
    groupIds: groups ?? [],
    groupNames: [],
    opener: {
      orgId,
      profile: '',
      epoch: ssoEpochOf(organisation.body),
      enabled: organisation.body.sso_enabled === true,
    },
    // Groups that are there and name none are an answer too: nobody is an administrator by them.
    mapped: groups !== undefined,
    onlyRegistered: body.SSOOnlyForRegisteredUsers === true,
    guarantor: caller.guarantor,
  }
  return { section, person, notAllowed: notAllowed === true }
}

/** Creates a nonce and stores its meaning: base64 of a random UUID. `actor` requested it. */
export async function createNonce(
  parts: DashboardParts,
  { section, person, notAllowed }: NonceRequest,
  actor: string,
): Promise<string> {
  const nonce = Buffer.from(randomUUID()).toString('base64')
  const expiresAt = parts.clock.wall() + NONCE_MS
  const accounts = await accountsOf(parts, section, person)
  const body: JsonObject = { use: 'nonce', section, person: personBody(person), not_allowed: notAllowed, accounts }
  const family = person.guarantor === undefined ? '' : activeFamily(person.guarantor.userId)
  const row = newTicket('sso', expiresAt, { family, body })
  const audit = auditOf(parts, actor, 'sso.nonce', person.orgId, { section, email: person.email })
  await parts.documents.commit([{ op: 'putTicket', hash: hashOf(nonce), row, ifAbsent: true }], audit)
  return nonce
}

/**
 * Ids of the users of a person's address: a nonce is for these, and not for one that comes to have the address later. That of the
 * portal is for the developer whose record carries it.
 */
async function accountsOf(parts: DashboardParts, section: Section, { email }: SsoPerson): Promise<string[]> {
  if (email === '' || section === 'portal') return []
  return (await findByEmail(parts, email)).map(({ id }) => id).sort()
}

/** The meaning of a nonce, and the change that uses it up, which belongs in the commit of what it opens. */
export interface UsableNonce {
  readonly person: SsoPerson
  readonly claim: Change
}

/**
 * Looks up a nonce. @throws Fault `sso_nonce_void` (403) when it was used, has expired, is for another section or never was, or its
 * person has other accounts by now, `sso_refused` (403) when its maker says so
 */
export async function findNonce(parts: DashboardParts, nonce: string, section: Section): Promise<UsableNonce> {
  const hash = hashOf(nonce.slice(0, LONGEST))
  const now = parts.clock.wall()
  const row = await parts.tokens.getTicket(hash)
  const { use, section: made, person, not_allowed: notAllowed, accounts } = row?.body ?? {}
  const usable = row !== undefined && row.sort === 'sso' && row.claimedAt === 0 && row.expiresAt > now
  if (!usable || use !== 'nonce' || made !== section || !isObject(person)) throw fault('sso_nonce_void')
  if (notAllowed === true) throw fault('sso_refused', 'the issuer of the nonce does not admit the user')
  const known = personOf(person)
  if (!isDeepStrictEqual(await accountsOf(parts, section, known), accounts)) throw fault('sso_nonce_void')
  return { person: known, claim: { op: 'claimTicket', hash, sort: 'sso', now } }
}

/** Two browsers with one nonce: the other one was first. */
export function nonceFault(error: unknown): unknown {
  return toFault(error).code === 'ticket_unusable' ? fault('sso_nonce_void') : error
}

const hashOf = (nonce: string) => ticketHash('sso_nonce', nonce)

function textOf(body: JsonObject, name: string): string {
  return checkedText(body, name).trim()
}

/** A member in its own spelling. */
function checkedText(body: JsonObject, name: string): string {
  const value: Json = body[name] ?? ''
  if (typeof value !== 'string' || value.length > LONGEST || /[\x00-\x1f\x7f]/.test(value))
    throw invalid(`${name} must be a text of at most ${LONGEST} characters`)
  return value
}

function readEmail(given: string): string {
  if (given === '' || given === UNNAMED) return ''
  const email = toEmail(given)
  if (email === undefined) throw invalid('EmailAddress is not an email address')
  return email
}

/** Probable misspellings of the group members: ignoring them would make an administrator. */
const LIKE_GROUPS = /^groups?_?ids?$/i

/**
 * The groups of a nonce; undefined where it says nothing of groups: both members are missing, null, or an empty text. Brokers write
 * these for everybody where they have no mapping. A list says something, an empty one that there are no groups.
 */
function readGroups(body: JsonObject): string[] | undefined {
  const other = Object.keys(body).find((name) => LIKE_GROUPS.test(name) && name !== 'GroupID' && name !== 'GroupsIDs')
  if (other !== undefined) throw invalid(`${other.slice(0, LONGEST)} is neither GroupID nor GroupsIDs`)
  const { GroupsIDs: several } = body
  if (several !== undefined && several !== null && !Array.isArray(several)) throw invalid('GroupsIDs must be a list')
  const list: Json[] | undefined = several ?? undefined
  if (list !== undefined && list.length > MOST_GROUPS) throw invalid(`GroupsIDs holds more than ${MOST_GROUPS}`)
  if (list?.some((id) => typeof id !== 'string' || id.length > LONGEST)) throw invalid('GroupsIDs must hold texts')
  const named = (list ?? []).filter((id): id is string => typeof id === 'string' && id.trim() !== '')
  const one = textOf(body, 'GroupID')
  if (named.length > 0) return named
  if (one !== '') return [one]
  return list === undefined && (body.GroupID ?? '') === '' ? undefined : []
}

const invalid = (why: string) =>
  fault('sso_payload_invalid', `Cannot create an SSO session for an invalid payload: [Error: ${why}]`)
