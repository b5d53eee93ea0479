import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { repeatsMember } from '../../model/json/json-body.ts'
import { placeOfLostNumber } from '../../model/json/large-integers.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { rightsAndLimitsOf } from '../../model/sessions/scope-session.ts'
import { checkSession } from '../../model/sessions/session.ts'
import { withPolicyIds } from '../../publish/policies/policy-ids.ts'
import type { StandaloneRules } from '../tokens/tickets.ts'
import type { Params } from './authorization-request.ts'
import type { OAuthParts } from './parts.ts'

const MAX_USERNAME = 256

/**
 * Reads `key_rules`: the session, as JSON, that the identity server gives to the user who has signed in; undefined = none was
 * sent. Passwords, lifetimes and what is ours to say (who counts, whose token it is) are taken out. The issue of the token narrows
 * it to the client's policies, and `_id`s of policies become their `id`s. @throws Fault `oauth_invalid_request` naming the path of each fault
 */
export async function readSentKeyRules(
  parts: Pick<OAuthParts, 'documents'>,
  { orgId }: { readonly orgId: string },
  form: Params,
): Promise<JsonObject | undefined> {
  const text = form.get('key_rules')
  if (text === undefined || text === '') return undefined
  const value = parse(text)
  if (!isObject(value))
    throw fault(
      'oauth_invalid_request',
      'key_rules must be a JSON object, no member named twice, no integer beyond 2^53 - 1',
    )
  try {
    return await withPolicyIds(parts, orgId, 'session', checkSession(rightsAndLimitsOf(value), 'limits'))
  } catch (error) {
    if (error instanceof Fault && error.code === 'key_invalid')
      throw fault('oauth_invalid_request', `key_rules: ${error.message}`, error)
    throw error
  }
}

/** The note in a ticket of a client whose rules may apply alone: it has no policies now, when the user decides. */
export function standaloneMark({ policies }: OAuthClient): { readonly stands_alone?: StandaloneRules } {
  return policies.length === 0 ? { stands_alone: true } : {}
}

/** Reads `username`: the user who gave consent; '' when absent. @throws Fault `oauth_invalid_request` */
export function readUsername(form: Params): string {
  const username = form.get('username') ?? ''
  if (username.length > MAX_USERNAME) throw fault('oauth_invalid_request', `username is longer than ${MAX_USERNAME}`)
  return username
}

/**
 * The granted scope: the form's `scope` where it names one, else all of the requested scope.
 * @throws Fault `oauth_invalid_scope` when it is wider
 */
export function narrowedScope(asked: string, form: Params): string {
  const allowed = form.get('scope') ?? ''
  if (allowed === '') return asked
  const all = new Set(asked.split(' '))
  const scopes = [...new Set(allowed.split(' '))]
  if (scopes.some((scope) => !all.has(scope))) throw fault('oauth_invalid_scope')
  return scopes.join(' ')
}

function parse(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    return repeatsMember(text, value) || placeOfLostNumber(text, value) !== undefined ? undefined : value
  } catch {
    return undefined
  }
}
