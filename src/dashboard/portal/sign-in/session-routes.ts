import { Type } from 'typebox'
import { fault, toFault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import { type JsonObject, startsObject } from '../../../model/json/json.ts'
import type { OAuthClient } from '../../../model/oauth-clients/oauth-client.ts'
import { describedMembers } from '../../../model/openapi/component-schemas.ts'
import { appIdsOf } from '../../../model/portal/developers/holdings.ts'
import { storedApp } from '../../../publish/oauth-clients/oauth-client-parts.ts'
import { endAllTokens } from '../../../publish/oauth-clients/oauth-clients.ts'
import { revokeToken } from '../../../publish/oauth-clients/oauth-tokens.ts'
import { portalConfiguration } from '../../../publish/portal/settings/configuration.ts'
import { clientsOfSecret } from '../../oauth-clients/clients-named.ts'
import { type Answer, bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { DoneEnvelope, OkStatus } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { emailAddress, storageId } from '../../routes/text-forms.ts'
import { fieldsOf, JSON_OR_FORM, SECRET_MEMBERS, TOKEN_MEMBERS } from '../../server/form-or-json.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { uncached, withCookie } from '../../sign-in/browser.ts'
import { endedCookie, PORTAL_COOKIE } from '../../sign-in/cookie.ts'
import { cameByTls, checkOrigin } from '../../sign-in/origin.ts'
import { goTo, refusedSignIn } from '../../single-sign-on/answers.ts'
import { nonceFault } from '../../single-sign-on/nonce.ts'
import { portalAddress } from '../settings/portal-mails.ts'
import { newPortalSession, type OpenedPortalSession, portalSessionOf, writingPortalSession } from './session.ts'
import { provenDeveloper } from './session-credentials.ts'
import { requestPortalLink, resetByPortalLink } from './session-forgotten.ts'
import { signUp } from './session-register.ts'
import { enterPortalByNonce } from './session-sso.ts'

const ORG = Type.Optional(
  Type.String({ description: 'Organisation of the portal; else the one whose `cname` was called, else the first.' }),
)
const CSRF = Type.Object(
  {
    csrf_token: Type.String({ description: 'For `Authorization` of the calls of this session that write.' }),
  },
  { title: 'PortalSession', description: 'The session of the developer.' },
)
const SignedUpShape = Type.Object(
  {
    Status: OkStatus,
    Message: storageId('Id of the developer: 24 hexadecimal digits.'),
    Meta: Type.Union([Type.Null(), CSRF], {
      description: 'The session of the developer; null where registering does not sign in.',
    }),
  },
  { title: 'DeveloperRegistered' },
)

/** The session of a developer at the portal: signing up, in and out, forgotten passwords, and what it opens. */
export function portalSessionRoutes(parts: DashboardParts): Route[] {
  return [...signInRoutes(parts), ...passwordRoutes(parts), ...clientRoutes(parts)]
}

function signInRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/portal/login',
      access: 'public',
      summary: 'Sign a developer in; returns a cookie and the CSRF token for writing calls',
      body: Type.Object({
        email: Type.String({ description: 'Email address of the developer.' }),
        password: Type.String({ description: 'Password of the developer.' }),
        org_id: ORG,
      }),
      // JSON, or the form of a page.
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      refusals: [401, 403],
      answers: { 200: CSRF },
      run: (call) => login(parts, call),
    },
    {
      method: 'GET',
      path: '/portal/csrf',
      access: 'public',
      summary: 'Get the CSRF token of the portal session',
      refusals: [401, 403],
      answers: { 200: CSRF },
      run: async (call) => uncached(bare({ csrf_token: (await portalSessionOf(parts, call)).csrf })),
    },
    {
      method: 'POST',
      path: '/portal/logout',
      access: 'public',
      summary: 'Sign out of the portal',
      refusals: [401, 403],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { end } = await writingPortalSession(parts, call)
        await parts.documents.commit([end], undefined)
        return withCookie(ok('Signed out'), endedCookie(cameByTls(parts, call), PORTAL_COOKIE))
      },
    },
    {
      method: 'POST',
      path: '/portal/register',
      access: 'public',
      summary: 'Register a developer, and sign in unless the portal is configured otherwise',
      body: Type.Object({
        email: emailAddress('Email address, by which the developer signs in.'),
        password: Type.String({ description: 'Password, by the rules of the installation.' }),
        fields: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: '`Name`, and the sign-up fields of the portal.' }),
        ),
        org_id: ORG,
      }),
      refusals: [401, 403],
      answers: { 200: SignedUpShape },
      run: (call) => register(parts, call),
    },
    {
      method: 'GET',
      path: '/portal/sso',
      access: 'public',
      once: true,
      summary: 'Open a portal session for a sign-in nonce and redirect to the portal',
      query: { nonce: Type.String() },
      answers: { 303: Type.String(), 403: Type.String() },
      answerType: 'text/html',
      run: async (call) => {
        try {
          const { cookie, orgId } = await enterPortalByNonce(parts, call, call.query('nonce'))
          return goTo(await startOf(parts, orgId), cookie)
        } catch (error) {
          return refusedSignIn(parts, call, nonceFault(error))
        }
      },
    },
  ]
}

function passwordRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/portal/password/forgot',
      access: 'public',
      summary: 'Request a password reset mail; the response is the same for every address',
      body: Type.Object({ email: Type.String({ description: 'Email address of the developer.' }), org_id: ORG }),
      refusals: [401, 403],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        checkOrigin(parts, call)
        const { email, org_id: named } = call.object()
        const orgId = await portalOrganisation(parts, call, named)
        requestPortalLink(parts, call, { orgId, address: String(email) })
        return ok('If there is an account with this address, a mail is on its way')
      },
    },
    {
      method: 'POST',
      path: '/portal/password/reset',
      access: 'public',
      summary: 'Reset a password with the link of the mail; ends the portal sessions of the developer',
      body: Type.Object(
        {
          token: Type.String({ description: 'The fragment of the link, after `#`.' }),
          new_password: Type.String({ description: 'The new password.' }),
        },
        { title: 'PasswordReset' },
      ),
      refusals: [401, 403],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        checkOrigin(parts, call)
        const { token, new_password: password } = call.object()
        await resetByPortalLink(parts, String(token), String(password))
        return ok('Password changed')
      },
    },
  ]
}

function clientRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/oauth-clients/{clientId}/revoke',
      access: 'public',
      summary: 'Revoke a token of an OAuth app of the signed-in developer (CSRF token in `Authorization`)',
      body: Type.Object({}, describedMembers('OwnTokenRevocation', TOKEN_MEMBERS)),
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      refusals: [401, 403],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { clientId, of, actor } = await ownApp(parts, call)
        const fields = fieldsOf(call)
        const token = fields.get('token')
        if (token === undefined) throw fault('query_invalid', 'token is required')
        await revokeToken(parts, { token, hint: fields.get('token_type_hint') ?? '', clientId, of, actor })
        return ok('token revoked successfully')
      },
    },
    {
      method: 'POST',
      path: '/oauth-clients/{clientId}/revoke_all',
      access: 'public',
      summary: 'Revoke all tokens of an OAuth app of the signed-in developer (CSRF token in `Authorization`)',
      body: Type.Object({}, describedMembers('ClientSecret', SECRET_MEMBERS)),
      bodyIs: 'any',
      bodyTypes: JSON_OR_FORM,
      refusals: [401, 403],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { of, actor } = await ownApp(parts, call)
        const secret = fieldsOf(call).get('client_secret')
        if (secret === undefined) throw fault('client_secret_wrong', 'client_secret is required')
        for (const client of await clientsOfSecret(parts, call, of, secret)) await endAllTokens(parts, client, actor)
        return ok('tokens revoked successfully')
      },
    },
  ]
}

async function login(parts: DashboardParts, call: Call): Promise<Answer> {
  checkOrigin(parts, call)
  const { email, password, org_id: named } = sentLogin(call)
  if (typeof email !== 'string' || typeof password !== 'string')
    throw fault('body_invalid', 'email and password are needed')
  const orgId = await portalOrganisation(parts, call, named)
  if ((await portalConfiguration(parts, orgId)).disable_login) throw fault('portal_login_off')
  let opened: OpenedPortalSession | undefined
  await provenDeveloper(parts, call, { orgId, address: email, password, by: 'browser' }, ({ id }) => {
    const session = newPortalSession(parts, call, { developerId: id, orgId, via: 'password' })
    opened = session.opened
    return [...session.changes]
  })
  return withCookie(bare({ csrf_token: opened!.csrf }), opened!.cookie)
}

/** JSON by its first character, with any Content-Type; otherwise a form. */
function sentLogin(call: Call): JsonObject {
  return startsObject(call.bytes()) ? call.object() : Object.fromEntries(call.form())
}

async function register(parts: DashboardParts, call: Call): Promise<Answer> {
  checkOrigin(parts, call)
  const sent = call.object()
  const { developer, opened } = await signUp(parts, call, await portalOrganisation(parts, call, sent.org_id), sent)
  if (opened === undefined) return uncached(ok(developer.id))
  return withCookie(ok(developer.id, { csrf_token: opened.csrf }), opened.cookie)
}

/** The OAuth app that the path names, of the developer who calls. @throws Fault `not_found` (404) for another's, and for none */
async function ownApp(
  parts: DashboardParts,
  call: Call,
): Promise<{ readonly clientId: string; readonly of: readonly OAuthClient[]; readonly actor: string }> {
  const { developer } = await writingPortalSession(parts, call)
  const clientId = call.param('clientId')
  if (!appIdsOf(developer.body).includes(clientId)) throw fault('not_found', "oauth client doesn't exist")
  const stored = await storedApp(parts, clientId, developer.id)
  return { clientId, of: stored === undefined ? [] : [stored.body], actor: String(developer.body.email) }
}

/** Where the portal of an organisation begins; where nobody has said, on the host that was called. */
async function startOf(parts: DashboardParts, orgId: string): Promise<string> {
  try {
    return `${await portalAddress(parts, await portalConfiguration(parts, orgId))}/portal/`
  } catch (error) {
    if (toFault(error).code !== 'mail_off') throw error
    return '/portal/'
  }
}

/**
 * The organisation whose portal a public call is meant for: the one that the body names, else the one whose `cname` is the host that
 * was called (the oldest, where several say so), else the default organisation. '' for one that is not there.
 */
async function portalOrganisation(
  { documents, defaultOrg }: DashboardParts,
  call: Pick<Call, 'header'>,
  named: unknown,
): Promise<string> {
  if (typeof named === 'string' && named !== '')
    return isDocumentId(named) && (await documents.get('organisation', named)) !== undefined ? named : ''
  const host = call.header('host')?.toLowerCase() ?? ''
  const hosts = [...new Set([host, host.replace(/:\d+$/, '')])].filter((one) => one !== '' && one.length <= 255)
  if (hosts.length === 0) return defaultOrg()
  const { rows } = await documents.list('organisation', { where: { cname: hosts }, limit: 1 })
  return rows[0]?.id ?? defaultOrg()
}
