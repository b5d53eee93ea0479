import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { publicText, renderFault, statusOf } from '../../errors/render.ts'
import { epochAt } from '../../model/oauth-clients/oauth-registration.ts'
import { sinceOf } from '../clients/redirect-uri.ts'
import { jsonAnswer, textAnswer } from '../messages/answer.ts'
import { type Form, readForm } from '../messages/form.ts'
import { makeCode } from '../tokens/code.ts'
import {
  checkOpen,
  errorName,
  failureAddress,
  type OpenRequest,
  openRequest,
  successAddress,
} from './authorization-request.ts'
import { decideDevice } from './device-decision.ts'
import { narrowedScope, readSentKeyRules, readUsername, standaloneMark } from './login-page.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'
import { commitUse, consumeRequestChange, toUnusableFault } from './pushed.ts'

/** Errors that a login page may send to the client instead of a consent (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). */
const REPORTS = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
  'temporarily_unavailable',
  'server_error',
])
/** RFC 6749 section 4.1.2.1. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{0,512}$/

/**
 * Concludes an authorization for the identity server, which calls this with the gateway's secret once the user has signed in
 * and decided. It hands back the parameters that its page got from `authorize` (all of them, or `client_id` and `request_uri`
 * where there was one), adds `username` and `key_rules` (a session as JSON), and sends the browser to `redirect_to`:
 *
 * - consent: 200 `{code, redirect_to, state}`; a narrower `scope` than the one asked for is what the user allowed;
 * - refusal: `error=access_denied` (or another of OpenID Connect's) and `error_description` give 200 `{error, redirect_to, state}`;
 * - a device (RFC 8628): `user_code` alone tells who asks for what, with `decision` = `approve` or `deny` it is decided.
 *
 * `state` is there when the request had one. Failures have RFC bodies, with `redirect_to` beside `error` once client and redirect
 * URI are known to be good; without the secret 403 in the words of management calls.
 */
export async function authorizeClient(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  if (!call.administrative) return refuseCaller(parts)
  const form = await readForm(call)
  if (form.has('user_code')) return decideDevice(parts, call, form)
  const open = await openRequest(parts, call, form, 'login')
  try {
    return form.has('error') ? await reportError(parts, call, form, open) : await giveCode(parts, call, form, open)
  } catch (error) {
    return tellClient(parts, call, open, toFault(error))
  }
}

async function giveCode(parts: OAuthParts, call: OAuthCall, form: Form, open: OpenRequest): Promise<OAuthAnswer> {
  await call.checkClient?.(open.client)
  const { scope, challenge, jkt, resources } = await checkOpen(parts, open, call)
  const keyRules = await readSentKeyRules(parts, call.api, form)
  const body = {
    epoch: epochAt(open.client, call.api.apiId),
    redirect_uri: open.params.get('redirect_uri') ?? '',
    sent_to: open.redirectUri,
    since: sinceOf(open.client, open.redirectUri) ?? '',
    challenge,
    scope: narrowedScope(scope, form),
    jkt,
    ...(resources.length > 0 && { resources }),
    username: readUsername(form),
    ...(keyRules !== undefined && { key_rules: keyRules }),
    ...standaloneMark(open.client),
  }
  const use = open.ticket === undefined ? [] : [consumeRequestChange(parts, open.ticket)]
  const code = await makeCode(parts, call.api, open.client, body, use).catch((error) => {
    throw toUnusableFault(error)
  })
  return jsonAnswer(200, { code, redirect_to: successAddress(open, call.issuer, code), ...stateOf(open) })
}

async function reportError(parts: OAuthParts, call: OAuthCall, form: Form, open: OpenRequest): Promise<OAuthAnswer> {
  const error = form.get('error') ?? ''
  const description = form.get('error_description') ?? ''
  if (!REPORTS.has(error)) throw fault('oauth_invalid_request', 'error is not one that a login page reports')
  if (!DESCRIPTION.test(description)) throw fault('oauth_invalid_request', 'error_description is not well-formed')
  if (open.ticket !== undefined) await commitUse(parts, [consumeRequestChange(parts, open.ticket)])
  const redirectTo = failureAddress(open, call.issuer, error, description)
  return jsonAnswer(200, { error, redirect_to: redirectTo, ...stateOf(open) })
}

function stateOf({ state }: OpenRequest): { state?: string } {
  return state === '' ? {} : { state }
}

/** The refusal for the identity server, and where it may send the browser so that the client learns of it. */
function tellClient(parts: OAuthParts, call: OAuthCall, open: OpenRequest, refusal: Fault): OAuthAnswer {
  const name = errorName(refusal)
  // The request was concluded by another call meanwhile: the client learns of it by that one.
  if (name === undefined || refusal.code === 'oauth_request_uri_unusable') throw refusal
  const legacy = parts.config.compat.legacy_statuses
  const body = JSON.parse(renderFault(refusal, legacy ? 'legacy-oauth' : 'oauth'))
  const redirectTo = failureAddress(open, call.issuer, name, publicText(refusal))
  return jsonAnswer(statusOf(refusal, legacy), { ...body, redirect_to: redirectTo })
}

function refuseCaller(parts: OAuthParts): OAuthAnswer {
  const refusal = fault('admin_secret_wrong')
  return textAnswer(statusOf(refusal, parts.config.compat.legacy_statuses), renderFault(refusal, 'management'))
}
