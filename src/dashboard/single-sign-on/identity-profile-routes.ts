import { type TSchema, Type } from 'typebox'
import { toFault } from '../../errors/fault.ts'
import { publicText } from '../../errors/render.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { IDP_PROFILE_INPUT, IDP_PROFILE_READ, IDP_PROFILE_SHAPE } from '../../model/single-sign-on/idp-profile.ts'
import { withPolicyIds } from '../../publish/policies/policy-ids.ts'
import {
  createProfile,
  deleteProfile,
  type ProfileAuthor,
  profileShape,
  updateProfile,
} from '../../publish/single-sign-on/idp-profiles.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../access/secrets-view.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { listPieces } from '../routes/listed.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkDestinations } from './destinations.ts'
import { guarantorBody } from './person.ts'
import { checkProfileReach, guarantorFor } from './profile-rights.ts'

const Profile = Type.Object(
  { ID: Type.String({ description: 'Id of the identity profile.' }), OrgID: Type.String() },
  describedAs(IDP_PROFILE_SHAPE),
)
const Body = Type.Object({}, describedAs(IDP_PROFILE_INPUT))
const answerOf = (data: TSchema) =>
  Type.Object({
    Status: Type.Literal('ok', { description: 'Always `ok`.' }),
    ID: Type.String({ description: 'Id of the identity profile. Blank in lists.' }),
    Data: data,
  })
const Written = Type.Object(
  {
    ...{
      Status: Type.Literal('ok', { description: 'Always `ok`.' }),
      ID: Type.String({ description: 'Id of the identity profile.' }),
      Data: Profile,
    },
    Warning: Type.Optional(Type.String({ description: 'What is dangerous about the profile.' })),
  },
  { title: 'IdentityProfileWritten' },
)
const TRUSTS =
  'TrustUnverifiedEmail: anyone who enters the email address of a user at the identity provider is signed in as that user, verified or not'
const Refusal = Type.Object(
  {
    Status: Type.Literal('error', { description: 'Always `error`.' }),
    Error: Type.String({ description: 'Reason, as text for people.' }),
  },
  { title: 'IdentityRefusal' },
)
const One = Type.Object({ Status: Type.Literal('ok'), ID: Type.String(), Data: Profile }, describedAs(IDP_PROFILE_READ))

const PATH = '/api/tib/profiles'
const ACCESS = { permission: 'idm' } as const
const REFUSALS = { 400: Refusal, 404: Refusal }

/** Identity profiles: how people sign in elsewhere and what they are here. Secrets are written, never shown. */
export function identityProfileRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: ACCESS,
      summary: 'List identity profiles',
      answers: { 200: answerOf(Type.Array(Profile, { description: 'Identity profiles of the organisation.' })) },
      run: async (call) => ({ status: 200, body: pieces(parts, call) }),
    },
    {
      method: 'POST',
      path: PATH,
      access: ACCESS,
      summary: 'Create an identity profile',
      body: Body,
      answers: { 200: Written, ...REFUSALS },
      run: (call) =>
        worded(async () => {
          const sent = await withPolicyIds(parts, call.actor!.orgId, 'profile', call.object())
          checkDestinations(parts, sent)
          await checkProfileReach(parts, call, sent)
          return said(await createProfile(parts, sent, authorOf(call)))
        }),
    },
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      access: ACCESS,
      summary: 'Read an identity profile',
      answers: { 200: One, ...REFUSALS },
      entityVersion: (call) => profileOf(parts, call),
      run: async (call) => {
        const stored = await profileOf(parts, call)
        if (stored === undefined) return unknown()
        const shape = maskSecretsFor(call, 'idm', profileShape(stored.body))
        return bare({ ...shape, Status: 'ok', ID: String(shape.ID), Data: shape })
      },
    },
    {
      method: 'PUT',
      path: `${PATH}/{id}`,
      access: ACCESS,
      summary: 'Replace an identity profile; blank secrets are kept',
      body: Body,
      answers: { 200: Written, ...REFUSALS },
      entityVersion: (call) => profileOf(parts, call),
      run: (call) =>
        worded(async () => {
          const stored = await profileOf(parts, call)
          if (stored === undefined) return unknown()
          const { Status: _status, Data: _copy, ...own } = call.object()
          const kept = restoreMaskedSecrets(own, profileShape(stored.body), 'profile_invalid')
          const sent = await withPolicyIds(parts, call.actor!.orgId, 'profile', kept)
          checkDestinations(parts, sent)
          // Its open sessions may end with the change.
          await checkProfileReach(parts, call, stored.body)
          await checkProfileReach(parts, call, sent)
          return said(await updateProfile(parts, stored, sent, authorOf(call)))
        }),
    },
    {
      method: 'DELETE',
      path: `${PATH}/{id}`,
      access: ACCESS,
      summary: 'Delete an identity profile',
      answers: { 200: answerOf(Type.Object({}, { description: 'Always an empty object.' })), ...REFUSALS },
      run: (call) =>
        worded(async () => {
          const stored = await profileOf(parts, call)
          if (stored === undefined) return unknown()
          await checkProfileReach(parts, call, stored.body)
          await deleteProfile(parts, stored, authorOf(call))
          return bare({ Status: 'ok', ID: String(stored.body.ID), Data: {} })
        }),
    },
  ]
}

/** The profile that the path names; one of another organisation is none. */
async function profileOf({ documents }: DashboardParts, call: Call): Promise<StoredDocument | undefined> {
  const stored = await documents.find('idp_profile', 'id', call.param('id'))
  const orgId = call.actor?.orgId
  return stored !== undefined && (orgId === '' || stored.body.OrgID === orgId) ? stored : undefined
}

function authorOf(call: Call): ProfileAuthor {
  const { email, orgId } = call.actor!
  return { actor: email, orgId, guarantor: guarantorBody(guarantorFor(call.actor!)) }
}

async function* pieces({ documents }: DashboardParts, call: Call): AsyncGenerator<string> {
  const where = call.visibility.whereOrg()
  const profiles = documents.each('idp_profile', { where, order: 'name_folded' })
  yield '{"Status":"ok","ID":"","Data":'
  yield* listPieces(profiles, ({ body }) => maskSecretsFor(call, 'idm', profileShape(body)))
  yield '}'
}

function said({ body }: StoredDocument): Answer {
  const shape = profileShape(body)
  const warned = body.TrustUnverifiedEmail === true && { Warning: TRUSTS }
  return bare({ Status: 'ok', ID: String(shape.ID), Data: shape, ...warned })
}

const refusal = (status: number, text: string): Answer => ({
  status,
  body: { Status: 'error', Error: text } as JsonObject,
})
const unknown = () => refusal(404, 'Profile not found')

/** Refusals in the words of the identity broker. */
async function worded(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    const fault = toFault(error)
    if (fault.code !== 'profile_invalid') throw error
    return refusal(400, publicText(fault))
  }
}
