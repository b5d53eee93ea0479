import { Type } from 'typebox'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../oauth/signing-keys/key-ring.ts'
import { listKeys, retireKey, rotateAllKeys } from '../../oauth/signing-keys/keys.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import type { Route } from '../routes/route.ts'
import { moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const Algorithm = Type.Enum([...SIGNING_ALGORITHMS])
const Keys = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        org_id: Type.String({ description: 'Id of the organisation.' }),
        kid: Type.String({ description: 'As in the key set, and in the header of the tokens that it signed.' }),
        alg: described(Algorithm, 'Signature algorithm.'),
        state: Type.Enum(['next', 'current', 'previous', 'retired'], {
          description:
            '`next`: published, signs later; `previous`: signs no more, published until its last token has expired; ' +
            '`retired`: at once, its tokens are refused.',
        }),
        date_created: moment('Time of creation (RFC 3339).'),
        signs_from: Type.Optional(moment('Time from which the key signs (RFC 3339).')),
        published_until: Type.Optional(moment('Of a key that is `previous`.')),
        retired_at: Type.Optional(moment('Time at which the key was retired (RFC 3339).')),
      }),
      { description: 'Keys of the organisation, with those that sign no more.' },
    ),
  },
  { title: 'SigningKeys' },
)
const PATH = '/api/oauth/signing-keys'

/**
 * The keys that JWT access tokens of the organisation are signed with. They belong to no single API: changing them affects the tokens of
 * all owners, so that is for administrators.
 */
export function signingKeyRoutes(parts: DashboardParts): Route[] {
  const list = async (call: Call): Promise<Answer> =>
    bare({ keys: await listKeys(parts, call.visibility.whereOrg().org_id as string | undefined) })
  return [
    {
      method: 'GET',
      path: PATH,
      access: { permission: 'oauth', intent: 'read' },
      summary: 'List the signing keys of JWT access tokens, with their state',
      answers: { 200: Keys },
      run: list,
    },
    {
      method: 'POST',
      path: `${PATH}/rotate`,
      access: 'admin',
      summary: 'Rotate signing keys: a new key is published now and signs once every verifier knows it',
      refusals: [404],
      query: { alg: Algorithm },
      answers: { 200: Keys },
      run: async (call) => {
        const { orgId, email } = call.actor!
        const algorithm = call.query('alg') === '' ? undefined : (call.query('alg') as SigningAlgorithm)
        await rotateAllKeys(parts, orgId, algorithm, email)
        return list(call)
      },
    },
    {
      method: 'DELETE',
      path: `${PATH}/{kid}`,
      access: 'admin',
      summary: 'Retire a signing key at once: it is no longer published, and every token that it signed is refused',
      answers: { 200: Keys },
      run: async (call) => {
        const { orgId, email } = call.actor!
        await retireKey(parts, orgId, call.param('kid'), email)
        return list(call)
      },
    },
  ]
}
