import { fault, toFault } from '../../errors/fault.ts'
import { publicText } from '../../errors/render.ts'
import { redirectAnswer } from '../messages/answer.ts'
import { type Form, readAuthorizationRequest } from '../messages/form.ts'
import { queryNames, withQuery } from '../messages/with-query.ts'
import { checkAccess } from '../tokens/in-force.ts'
import {
  carriedParams,
  checkOpen,
  errorName,
  failureAddress,
  type OpenRequest,
  openRequest,
} from './authorization-request.ts'
import type { OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'
import { commitUse, consumeRequestChange, passToLogin } from './pushed.ts'

/**
 * Begins an authorization (RFC 6749 section 4.1.1): 307 to the API's login page, the parameters of the request in its query,
 * for GET and POST alike. Without a login page `Location` is the validated redirect URI.
 * An unknown client or a redirect URI that is not the client's never redirects; every other fault goes back to the client with
 * 303, so that a browser does not send a posted form on.
 *
 * A pushed request reaches the login page as its parameters, to show them, and a new `request_uri`.
 * A login page returns what it got: `authorize-client` uses `request_uri` if there is one.
 * @throws Fault `oauth_unknown_client`, `oauth_invalid_request`, `oauth_request_uri_unusable`
 */
export async function authorize(parts: OAuthParts, call: OAuthCall): Promise<OAuthAnswer> {
  const form = await readAuthorizationRequest(call)
  const open = await openRequest(parts, call, form, 'pushed')
  const refused = await refusalOf(parts, open, call, form)
  if (refused !== undefined) return redirectAnswer(303, refused)
  const loginPage = call.api.oauth.loginRedirect
  if (loginPage === '') {
    if (open.ticket !== undefined) await commitUse(parts, [consumeRequestChange(parts, open.ticket)])
    return redirectAnswer(307, open.redirectUri)
  }
  const params = carriedParams(open.params)
  if (open.ticket !== undefined) {
    const { client, params: pushed, redirectUri, ticket } = open
    params.push(['request_uri', await passToLogin(parts, call, client, { ticket, params: pushed, redirectUri })])
  }
  // what the page's own address says cannot be said differently by a request
  const own = queryNames(loginPage)
  const added = params.filter(([name]) => !own.has(name))
  return redirectAnswer(307, withQuery(loginPage, added))
}

/** Where a faulty request goes back to; undefined when it is good. */
async function refusalOf(
  parts: OAuthParts,
  open: OpenRequest,
  call: OAuthCall,
  form: Form,
): Promise<string | undefined> {
  try {
    // Also beside a pushed request, where nothing of it is read (RFC 6749 section 3.1).
    form.single()
    if (form.has('request') && form.has('request_uri'))
      throw fault('oauth_invalid_request', 'request and request_uri cannot come together')
    await checkOpen(parts, open, call)
    checkAccess(parts, call.api, open.client)
    return undefined
  } catch (error) {
    const refusal = toFault(error)
    const name = errorName(refusal)
    if (name === undefined) throw refusal
    return failureAddress(open, call.issuer, name, publicText(refusal))
  }
}
