import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { GRANT_CHOICES } from '../../../texts/grants.ts'
import { EXTENSION, objectAt, textAt, textsAt, withAt, written } from '../editor/tree.ts'
import { letInValues, memberPlaces, memberValues, withLetIn, withMembers } from './authentication-members.ts'
import {
  AUTHENTICATION,
  configAt,
  configuredAt,
  declaredAs,
  isSection,
  methodOf,
  placeInOpenapi,
  placeValues,
  proofsIn,
  schemeOf,
  withProofsInClassic,
} from './authentication-methods.ts'
import { askingInClassic, askingInOpenapi, severalPlaces, severalValues } from './authentication-several.ts'
import { PROOFS } from './schemes.ts'

const AUTHORIZE = { authorizationUrl: '/oauth/authorize' }
const TOKEN = { tokenUrl: '/oauth/token' }
const ADDRESSES: Readonly<Record<string, Definition>> = {
  authorizationCode: { ...AUTHORIZE, ...TOKEN },
  clientCredentials: TOKEN,
  password: TOKEN,
}

/** The form values of the Authentication tab. */
export function authenticationOf(classic: Definition): FormValues {
  const meta = objectAt(classic, ['oauth_meta'])
  const types = textsAt(meta, ['allowed_access_types'])
  return {
    method: methodOf(classic),
    ...severalValues(classic),
    ...placeValues(classic),
    ...memberValues(classic),
    ...letInValues(classic),
    strip: classic.strip_auth_data === true,
    flows: GRANT_CHOICES.map(({ type }) => type).filter((type) => types.includes(type)),
    refresh: types.includes('refresh_token'),
    scopes: scopeLines(objectAt(meta, ['scopes'])),
    notifyUrl: textAt(classic, ['notifications', 'oauth_on_keychange_url']),
    notifySecret: textAt(classic, ['notifications', 'shared_secret']),
  }
}

/** The definition with what differs in the form. */
export function withAuthentication(
  definition: Definition,
  isOas: boolean,
  before: FormValues,
  values: FormValues,
): Definition {
  if (JSON.stringify(before) === JSON.stringify(values)) return definition
  const change = { before, values }
  return isOas ? inOpenapi(definition, change) : inClassic(definition, change)
}

interface Change {
  readonly before: FormValues
  readonly values: FormValues
}

function inClassic(definition: Definition, { before, values }: Change): Definition {
  let next = withAt(definition, ['use_keyless'], values.method === 'keyless')
  if (values.method === 'other') return next
  next = withLetIn(next, 'classic', values)
  if (values.method === 'keyless') return next
  next = withProofsInClassic(next, values)
  next = withAt(next, ['strip_auth_data'], values.strip === true)
  const proofs = proofsIn(values)
  for (const proof of proofs) next = withMembers(next, proof, 'classic', { before, values })
  next = askingInClassic(next, values)
  if (!proofs.includes('oauth')) return next
  const kept = textsAt(next, ['oauth_meta', 'allowed_access_types']).filter((type) => type === '__implicit')
  const types = [...list(values.flows), ...kept, ...(values.refresh === true ? ['refresh_token'] : [])]
  next = withAt(next, ['oauth_meta', 'allowed_access_types'], types)
  next = withAt(next, ['oauth_meta', 'scopes'], scopesIn(values.scopes))
  return withNotifications(next, ['notifications'], 'oauth_on_keychange_url', 'shared_secret', values)
}

function inOpenapi(definition: Definition, { before, values }: Change): Definition {
  let next = withAt(definition, [...AUTHENTICATION, 'enabled'], values.method !== 'keyless')
  if (values.method === 'other') return next
  next = withLetIn(next, [EXTENSION], values)
  if (values.method === 'keyless') return next
  const proofs = proofsIn(values)
  const schemes = proofs.map((proof) => schemeOf(next, proof))
  for (const other of Object.keys(objectAt(next, [...AUTHENTICATION, 'securitySchemes'])))
    if (!schemes.includes(other)) next = withAt(next, [...AUTHENTICATION, 'securitySchemes', other, 'enabled'], false)
  for (const other of PROOFS.filter((proof) => isSection(proof) && !proofs.includes(proof))) {
    const held = configuredAt(next, other)
    if (Object.keys(objectAt(next, held)).length > 0) next = withAt(next, [...held, 'enabled'], false)
  }
  next = withAt(next, [...AUTHENTICATION, 'stripAuthorizationData'], values.strip === true)
  for (const proof of proofs) {
    const held = configuredAt(next, proof)
    next = withAt(next, held, placeInOpenapi(objectAt(next, held), proof, values))
    next = withMembers(next, proof, held, { before, values })
    if (isSection(proof)) continue
    const declared = ['components', 'securitySchemes', held.at(-1)!]
    const said = declaredAs(objectAt(next, declared), proof, values)
    next = withAt(next, declared, proof === 'oauth' ? { ...said, flows: flowsIn(said, values) } : said)
    if (proof !== 'oauth') continue
    next = withAt(next, [...held, 'refreshToken'], values.refresh === true)
    for (const { type, oas } of GRANT_CHOICES)
      if (oas !== undefined) next = written(next, [...held, oas], list(values.flows).includes(type) || undefined)
    next = withNotifications(next, [...held, 'notifications'], 'onKeyChangeUrl', 'sharedSecret', values)
  }
  return askingInOpenapi(next, values)
}

/** Each field of the form with the places that the dashboard names where something is wrong with it. */
export function fieldPlaces(
  definition: Definition,
  isOas: boolean,
  values: FormValues,
): (readonly [field: string, place: readonly string[]])[] {
  const places = PROOFS.flatMap((proof): (readonly [string, readonly string[]])[] => {
    const held = isOas ? configuredAt(definition, proof) : configAt(proof)
    const names = isOas
      ? [['header', 'name'], ['query', 'name'], ['cookie', 'name'], ['enableClientCertificate']]
      : [['auth_header_name'], ['param_name'], ['cookie_name'], ['use_certificate']]
    const fields = [`${proof}HeaderName`, `${proof}QueryName`, `${proof}CookieName`, 'tokenCertificate']
    return [
      ...fields.map((field, index) => [field, [...held, ...names[index]!]] as const),
      ...memberPlaces(proof, isOas ? held : 'classic', values),
    ]
  })
  return [...places, ...severalPlaces(isOas)]
}

function flowsIn(before: Definition, values: FormValues): Definition {
  const scopes = scopesIn(values.scopes)
  const kept = objectAt(before, ['flows', 'implicit'])
  const flows: Record<string, Json> = Object.keys(kept).length > 0 ? { implicit: { ...kept, scopes } } : {}
  for (const { type, flow } of GRANT_CHOICES)
    if (flow !== undefined && list(values.flows).includes(type))
      flows[flow] = { ...ADDRESSES[flow], ...objectAt(before, ['flows', flow]), scopes }
  return flows
}

function withNotifications(
  tree: Definition,
  path: readonly string[],
  url: string,
  secret: string,
  values: FormValues,
): Definition {
  const text = (value: FormValue | undefined) => (value === '' || value === undefined ? undefined : String(value))
  return written(written(tree, [...path, url], text(values.notifyUrl)), [...path, secret], text(values.notifySecret))
}

const list = (value: FormValue | undefined): readonly string[] => (Array.isArray(value) ? value : [])

/** One scope a line: its name, then what it is for. */
function scopeLines(scopes: Definition): string {
  return Object.entries(scopes)
    .map(([name, description]) => `${name} ${typeof description === 'string' ? description : ''}`.trim())
    .join('\n')
}

function scopesIn(text: FormValue | undefined): Definition {
  const lines = String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...words] = line.split(/\s+/)
      return [name, words.join(' ')]
    }),
  )
}
