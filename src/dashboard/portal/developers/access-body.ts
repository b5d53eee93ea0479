import { type TSchema, Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { textsMember } from '../../../model/portal/settings/portal-fields.ts'
import { withRedirects } from '../../../publish/oauth-clients/oauth-client-parts.ts'
import type { AccessDraft } from '../../../publish/portal/developers/access.ts'
import type { Call } from '../../routes/call.ts'
import { described } from '../../routes/described.ts'
import type { DashboardParts } from '../../server/parts.ts'

const YEAR_S = 31_536_000
/** A choice has the description of what is chosen. */
const textOf = ({ description }: TSchema & { readonly description?: string }) =>
  description === undefined ? {} : { description }
const Nothing = Type.Union([Type.Null(), Type.Literal('')])
const orNothing = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Nothing], textOf(schema)))
const Id = Type.String({ minLength: 1, maxLength: 256 })
const Line = Type.String({ maxLength: 4096 })

const policies = {
  apply_policies: orNothing(
    Type.Array(Id, { maxItems: 100, description: 'By either of their ids; all for keys, or all for OAuth apps.' }),
  ),
  policies: orNothing(
    Type.Array(Id, { maxItems: 100, description: 'As a read shows them; apply_policies goes first.' }),
  ),
  policy_id: orNothing(Type.String({ minLength: 1, maxLength: 256, description: 'Deprecated: one policy.' })),
}

/** Access that a developer is to get. */
export const AccessBody = Type.Object(
  {
    ...policies,
    fields: orNothing(
      Type.Record(Type.String(), Type.String(), {
        description: 'Values of custom fields by name, which become metadata of the key.',
      }),
    ),
    oauth_info: orNothing(
      Type.Object(
        {
          redirect_uri: orNothing(
            described(
              Line,
              'Redirect URI of an OAuth app. Several: separated as `dashboard.oauth_redirect_uri_separator` says.',
            ),
          ),
        },
        { description: 'What an OAuth app needs, where the policies are for OAuth.' },
      ),
    ),
    client_name: orNothing(described(Line, 'Name of the OAuth app.')),
    app_description: orNothing(described(Line, 'Description of the OAuth app.')),
    use_case: orNothing(described(Line, 'What the OAuth app is for, as text for people.')),
    expires: orNothing(Type.Integer({ minimum: 0, description: 'Unix seconds; 0 = as the policies say.' })),
    expires_in: orNothing(Type.Integer({ minimum: 1, maximum: 100 * YEAR_S, description: 'Seconds from now.' })),
  },
  { title: 'AccessInput' },
)

/** Other policies for a key. */
export const PoliciesBody = Type.Object(policies, { title: 'PoliciesInput' })

/** How a key or a secret is rotated. */
export const RotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: YEAR_S, description: 'For how long the old one is good as well.' }),
    ),
  },
  { title: 'RotationInput', additionalProperties: false },
)

/** The policies that a body names: the list, by the name that reads give it too, else the one of old. */
export function policiesSent({ apply_policies: list, policies: shown, policy_id: single }: JsonObject): string[] {
  for (const ids of [list, shown]) if (Array.isArray(ids) && ids.length > 0) return [...new Set(ids as string[])]
  return typeof single === 'string' && single !== '' ? [single] : []
}

/**
 * Seconds for which the old key or secret is good; a call without a body asks for none. A member that is not known is refused: with
 * `overlap` ignored the old one would end at once. @throws Fault `body_invalid` (400)
 */
export function overlapSent(call: Call): number {
  const { overlap_seconds: sent, ...more } = call.bytes().length === 0 ? {} : call.object()
  const [unknown] = Object.keys(more)
  if (unknown !== undefined)
    throw fault('body_invalid', `${unknown} is not known here: send overlap_seconds, or no body`)
  const seconds = sent ?? 0
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= YEAR_S) return seconds
  throw fault('body_invalid', `overlap_seconds: must be a whole number from 0 to ${YEAR_S}`)
}

/**
 * The request in a body besides the policies. @throws Fault `access_unserved` (400) for what makes a key of another sort,
 * `portal_invalid`, `body_invalid` (400)
 */
export function accessSent(
  parts: DashboardParts,
  call: Call,
): Pick<AccessDraft, 'policies' | 'fields'> & Partial<Pick<AccessDraft, 'oauth' | 'expires'>> {
  const body = call.object()
  for (const [name, sort] of OTHER_SORTS) if ((body[name] ?? '') !== '') throw fault('access_unserved', sort)
  const info = isObject(body.oauth_info) ? body.oauth_info : {}
  const { redirect_uri: redirect } = withRedirects(parts, { redirect_uri: info.redirect_uri ?? '' })
  const uris = (Array.isArray(redirect) ? redirect : [redirect]).filter((uri) => typeof uri === 'string')
  const expires = expiresSent(parts, body)
  return {
    policies: policiesSent(body),
    fields: isObject(body.fields) ? textsMember(body, 'fields') : {},
    oauth: {
      redirect_uri: uris[0] ?? '',
      redirect_uris: uris,
      client_name: textIn(body, info, 'client_name'),
      app_description: textIn(body, info, 'app_description'),
      use_case: textIn(body, info, 'use_case'),
    },
    ...(expires > 0 && { expires }),
  }
}

const OTHER_SORTS = [
  ['jwt_secret', 'jwt'],
  ['certificate', 'mutualTLS'],
  ['hmac_string', 'hmac'],
  ['basic_auth_data', 'basic'],
] as const

/** Unix seconds; 0 = nothing was said. */
function expiresSent({ clock }: DashboardParts, { expires, expires_in: life }: JsonObject): number {
  if (typeof life !== 'number') return typeof expires === 'number' ? expires : 0
  if (typeof expires === 'number' && expires > 0)
    throw fault('body_invalid', 'expires_in: cannot be combined with expires')
  return Math.ceil(clock.wall() / 1000) + life
}

function textIn(body: JsonObject, info: JsonObject, name: string): string {
  const value = body[name] ?? info[name]
  return typeof value === 'string' ? value : ''
}
