import { Fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { generationOf } from '../../model/keys/key.ts'
import { TOKEN_FACTS, tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { type Merged, policyIdsOf } from '../../model/policies/merge-policies.ts'
import { mergeSession, NARROWED_BY } from '../../model/sessions/scope-session.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { previewMerged, withoutRules } from '../../model/sessions/session-preview.ts'
import { issuedBy, sessionAtUse, withUserOfToday } from '../../model/sessions/token-session.ts'
import type { SessionParts } from '../documents/parts.ts'
import { registrationAt } from '../oauth-clients/oauth-client-parts.ts'
import { readPolicies } from '../policies/policies.ts'

/** A stored session as the gateway applies it. */
export interface EffectiveSession {
  /** The stored body; of a token of the password grant, with the present rights of its user. */
  readonly body: JsonObject
  /** The session itself; that of a token as its client makes it now. */
  readonly session: Session
  /** In the order in which the session names them; undefined where one does not exist. */
  readonly policies: readonly (Policy | undefined)[]
  /** A Fault `policies_unusable` where it is refused. */
  readonly merged: Merged | Fault
}

/** Policies that a reader may not see: what they only label a session with, tags and metadata, is left out for that reader. */
export type Withheld = (policy: Policy) => boolean

/** Applies policies, client and what narrows a session, as the gateway does when it is used. @throws Fault `store_away` */
export async function effectiveSession(
  parts: SessionParts,
  body: JsonObject,
  orgId: string,
  withheld: Withheld = () => false,
): Promise<EffectiveSession> {
  const today = await ofUserToday(parts, body)
  const session = await atUse(parts, today, orgId)
  const ids = [...new Set(chainOf(session).flatMap(policyIdsOf))]
  const found = (await readPolicies(parts, orgId, ids)).map((policy) =>
    policy !== undefined && withheld(policy) ? { ...policy, tags: [], meta_data: {} } : policy,
  )
  const byId = new Map(ids.map((id, index) => [id, found[index]]))
  const policiesOf = (each: Session) => policyIdsOf(each).map((id) => byId.get(id))
  return { body: today, session, policies: policiesOf(session), merged: mergeSession(session, policiesOf) }
}

/** A stored session for a read: its effective values instead of the stored ones, without live counters. */
export function effectiveView(
  body: JsonObject,
  { body: today, session, policies, merged }: EffectiveSession,
): JsonObject {
  if (merged instanceof Fault) return body
  const shown = previewMerged(session, policies, merged)
  if (!Object.hasOwn(body, TOKEN_FACTS)) return shown
  const { [NARROWED_BY]: _applied, ...rest } = shown as JsonObject
  const before = today[NARROWED_BY]
  return { ...withoutRules(body), ...rest, ...(before !== undefined && { [NARROWED_BY]: before }) }
}

/** A token whose user is gone is refused: what is stored is all there is of it. */
async function ofUserToday({ tokens }: SessionParts, body: JsonObject): Promise<JsonObject> {
  const user = tokenFactsOf(body)?.user
  const row = user && (await tokens.getSession(Buffer.from(user.hash, 'hex')))
  return row === undefined || generationOf(row.body) !== user?.generation ? body : withUserOfToday(body, row.body)
}

/** A token whose client is gone is refused: what is stored is all there is of it. */
async function atUse(parts: SessionParts, body: JsonObject, orgId: string): Promise<Session> {
  const session = body as Session
  const facts = tokenFactsOf(body)
  const clientId = session.oauth_client_id ?? ''
  if (facts === undefined || clientId === '') return session
  const stored = await registrationAt(parts, clientId, { apiId: facts.api_id, orgId })
  const client = stored?.body
  return issuedBy(client, { orgId }, facts) ? sessionAtUse(body, client) : session
}

/** The session, what narrows it, and what narrows that. */
function chainOf(session: Session): Session[] {
  const second = (session as JsonObject)[NARROWED_BY]
  return isObject(second) ? [session, ...chainOf(second as Session)] : [session]
}
