import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { rewriteUser } from '../../publish/sign-in/rewrite-user.ts'
import { checkOwnersReach } from '../people/check-rights.ts'
import { userToReset } from '../people/find-people.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { OkStatus, OutcomeText } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { OK } from '../sign-in/schemas.ts'
import { endSessionsChange } from '../sign-in/sessions.ts'
import { refusedSignIn } from './answers.ts'
import { enterBySso } from './enter.ts'
import { createNonce, findNonce, nonceFault, readNonceRequest } from './nonce.ts'
import { guarantorFor } from './profile-rights.ts'
import { admitsAdmins, entryOf } from './rights.ts'

const Created = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: Type.String({
      description: 'The nonce, for `/tap` or `/portal/sso`. It is valid for 60 seconds, and opens one session.',
    }),
  },
  { title: 'NonceCreated' },
)
const Settings = Type.Object(
  {
    sso_enable_user_lookup: Type.Boolean({
      description:
        'The setting `dashboard.sso_enable_user_lookup`: people get the rights of a user with their address.',
    }),
    sso_default_group_id: Type.String({
      description: 'The setting `dashboard.sso_default_group_id`: user group of guests without one.',
    }),
    sso_permission_defaults: Type.Record(Type.String(), Type.String(), {
      description: 'The setting `dashboard.sso_permission_defaults`: permissions of guests.',
    }),
    deny_without_mapping: Type.Boolean({
      description: 'The setting `sso.deny_without_mapping`: guests without a group or permissions are refused.',
    }),
    warning: Type.String({ description: 'What should be changed of these; empty where all is well.' }),
    trust_unverified_email: Type.Array(Type.String(), {
      description: 'Identity profiles that accept unverified email addresses.',
    }),
  },
  { title: 'SingleSignOnSettings' },
)
const Body = Type.Object(
  {
    ForSection: Type.Optional(Type.String({ description: '`dashboard` or `portal`' })),
    OrgID: Type.Optional(
      Type.String({ description: 'Id of the organisation. Absent: that of the caller, or the default organisation.' }),
    ),
    EmailAddress: Type.Optional(Type.String({ description: 'Email address of the person. Also spelled `Email`.' })),
    DisplayName: Type.Optional(Type.String({ description: 'Name of the person.' })),
    GroupID: Type.Optional(Type.String({ description: 'Id of the user group whose permissions the person gets.' })),
    GroupsIDs: Type.Optional(
      Type.Unknown({
        description: 'Several groups: of each permission the higher one counts.',
        ...describedAs({ type: 'array', items: { type: 'string' } }),
      }),
    ),
    SSOOnlyForRegisteredUsers: Type.Optional(
      Type.Unknown({
        ...describedAs({ type: 'boolean' }),
        description: 'true: people without a user of the organisation are refused.',
      }),
    ),
    UserNotAllowed: Type.Optional(
      Type.Unknown({
        ...describedAs({ type: 'boolean' }),
        description: 'true: the sign-in is refused, and the browser shows why.',
      }),
    ),
  },
  { title: 'NonceInput' },
)
const WARNING =
  'People who come by single sign-on and are in no group become administrators: choose a default group (dashboard.sso_default_group_id) or default rights (dashboard.sso_permission_defaults), or refuse them (sso.deny_without_mapping)'

/** Sign-in by a nonce that a trusted program asks for: it lives 60 seconds and opens one session. */
export function ssoRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/admin/sso',
      access: 'installation',
      summary: 'Create a sign-in nonce for any organisation',
      body: Body,
      bodyIs: 'any',
      answers: { 200: Created },
      run: async (call) => {
        const wanted = await readNonceRequest(parts, call.object(), {})
        if (wanted.person.opener?.enabled !== true) throw fault('sso_disabled')
        return ok('SSO Nonce created', await createNonce(parts, wanted, 'admin'))
      },
    },
    {
      method: 'POST',
      path: '/api/sso',
      access: { permission: 'users' },
      summary: "Create a sign-in nonce for the caller's organisation",
      body: Body,
      bodyIs: 'any',
      answers: { 200: Created },
      run: (call) => nonceOfUser(parts, call),
    },
    {
      method: 'GET',
      path: '/api/sso/settings',
      access: { permission: 'idm' },
      summary: 'Read the permissions that single sign-on grants, with warnings',
      answers: { 200: Settings },
      run: async (call) => {
        const { sso_enable_user_lookup, sso_default_group_id, sso_permission_defaults } = parts.config.dashboard
        return bare({
          sso_enable_user_lookup,
          sso_default_group_id,
          sso_permission_defaults: { ...sso_permission_defaults },
          deny_without_mapping: parts.config.sso.deny_without_mapping,
          warning: admitsAdmins(parts) ? WARNING : '',
          trust_unverified_email: await trusting(parts, call),
        })
      },
    },
    {
      method: 'DELETE',
      path: '/api/users/{id}/sso-identity',
      access: 'admin',
      summary: 'Unlink the identity of a user, so that another identity with its verified address can sign in',
      answers: { 200: OK },
      run: (call) => release(parts, call),
    },
    {
      method: 'GET',
      path: '/tap',
      access: 'public',
      once: true,
      summary: 'Open a browser session for a sign-in nonce and redirect to the dashboard',
      query: { nonce: Type.String() },
      answers: { 303: Type.String(), 403: Type.String() },
      answerType: 'text/html',
      run: async (call) => {
        try {
          const { person, claim } = await findNonce(parts, call.query('nonce'), 'dashboard')
          return await enterBySso(parts, call, person, { path: '/', changes: [claim] })
        } catch (error) {
          return refusedSignIn(parts, call, nonceFault(error))
        }
      },
    },
  ]
}

/** As for the second factor: only users who may set the password of others may do this. */
async function release(parts: DashboardParts, call: Call) {
  const user = await userToReset(parts, call.actor!, call.param('id'))
  const rewrite = {
    actor: call.actor!.email,
    action: 'Release sign-in identity',
    changes: [endSessionsChange(user.id)],
  }
  await rewriteUser(parts, user.id, rewrite, ({ sso_identity: _bound, ...rest }) => rest)
  return ok('User updated')
}

async function trusting({ documents }: DashboardParts, call: Call): Promise<string[]> {
  const found: string[] = []
  for await (const batch of documents.each('idp_profile', { where: call.visibility.whereOrg(), order: 'name_folded' }))
    for (const { body } of batch) if (body.TrustUnverifiedEmail === true) found.push(String(body.ID))
  return found
}

/** The issuer of a nonce cannot grant more than they have: neither now nor when it is used. */
async function nonceOfUser(parts: DashboardParts, call: Call) {
  const { orgId, admin, email } = call.actor!
  const guarantor = guarantorFor(call.actor!)
  const caller = { orgId, ...(guarantor !== undefined && { guarantor }) }
  const wanted = await readNonceRequest(parts, call.object(), caller)
  if (wanted.person.opener?.enabled !== true) throw fault('sso_disabled')
  if (wanted.section === 'dashboard' && !wanted.notAllowed) {
    await checkOwnersReach(parts, call.actor!, wanted.person)
    if (!admin) await checkGiven(parts, wanted.person)
  }
  return ok('SSO Nonce created', await createNonce(parts, wanted, email))
}

async function checkGiven(parts: DashboardParts, person: Parameters<typeof entryOf>[1]): Promise<void> {
  try {
    await entryOf(parts, person)
  } catch (error) {
    // The browser shows the refusal.
    if ((error as { code?: unknown }).code !== 'sso_refused') throw error
  }
}
