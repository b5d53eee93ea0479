import type { Definition } from '../../../api/apis/apis.ts'
import type { FormValues } from '../../../parts/forms/form-values.ts'
import { at, EXTENSION, isObject, objectAt, textAt } from '../editor/tree.ts'

/** A way to prove who calls that the form can set up. */
export type Proof = 'token' | 'oauth' | 'jwt' | 'basic' | 'hmac'
export type Method = 'keyless' | Proof | 'several' | 'other'

interface Kind {
  /** Switch of the classic format. */
  readonly on: string
  /** Member of `auth_configs` with the place of the credential; also the name of a new OpenAPI security scheme. */
  readonly config: string
  /** What `base_identity_provided_by` calls it. */
  readonly identity: string
  /** How OpenAPI declares it; signed requests are no scheme there. */
  readonly declared?: Definition
}

const KINDS: Readonly<Record<Proof, Kind>> = {
  token: { on: 'use_standard_auth', config: 'authToken', identity: 'auth_token', declared: { type: 'apiKey' } },
  oauth: { on: 'use_oauth2', config: 'oauth', identity: 'oauth_key', declared: { type: 'oauth2' } },
  jwt: {
    ...{ on: 'enable_jwt', config: 'jwt', identity: 'jwt_claim' },
    declared: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  },
  basic: {
    ...{ on: 'use_basic_auth', config: 'basic', identity: 'basic_auth_user' },
    declared: { type: 'http', scheme: 'basic' },
  },
  hmac: { on: 'enable_signature_checking', config: 'hmac', identity: 'hmac_key' },
}

export const PROOFS = Object.keys(KINDS) as readonly Proof[]
/** Switches of the classic format for what the form cannot set up. */
const OTHERS = ['use_openid', 'enable_coprocess_auth', 'use_go_plugin_auth', 'custom_plugin_auth_enabled']

/** Where the extension says who may call. */
export const AUTHENTICATION = [EXTENSION, 'server', 'authentication'] as const
const HMAC = [...AUTHENTICATION, 'hmac'] as const

/** What proves who calls, of all that is on; the key where a definition turns nothing on. */
export function proofsOf(classic: Definition): readonly Proof[] {
  if (classic.use_keyless === true) return []
  const on = PROOFS.filter((proof) => classic[KINDS[proof].on] === true)
  return on.length === 0 && !hasOther(classic) ? ['token'] : on
}

/** How callers say who they are, read from the classic words that both formats have. */
export function methodOf(classic: Definition): Method {
  if (classic.use_keyless === true) return 'keyless'
  if (hasOther(classic)) return 'other'
  const proofs = proofsOf(classic)
  return proofs.length === 1 ? proofs[0]! : 'several'
}

function hasOther(classic: Definition): boolean {
  return OTHERS.some((name) => classic[name] === true) || at(classic, ['external_oauth', 'enabled']) === true
}

/** What the form asks for. */
export function proofsIn({ method, methods }: FormValues): readonly Proof[] {
  if (method === 'several') return PROOFS.filter((proof) => Array.isArray(methods) && methods.includes(proof))
  return PROOFS.filter((proof) => proof === method)
}

/** What `base_identity_provided_by` calls a proof, and the proof that it calls so. */
export const identityOf = (proof: Proof): string => KINDS[proof].identity
export const proofOfIdentity = (identity: string): Proof | undefined =>
  PROOFS.find((proof) => KINDS[proof].identity === identity)

/** What a classic definition says of the place of a proof: in its own member, else in the older one of all. */
export function placeOf(classic: Definition, proof: Proof): Definition {
  const own = objectAt(classic, ['auth_configs', KINDS[proof].config])
  return Object.keys(own).length > 0 ? own : objectAt(classic, ['auth'])
}

/** What the form shows of the places of all proofs. */
export function placeValues(classic: Definition): FormValues {
  const values: FormValues = { tokenCertificate: placeOf(classic, 'token').use_certificate === true }
  for (const proof of PROOFS) {
    const config = placeOf(classic, proof)
    values[`${proof}Header`] = config.disable_header !== true
    values[`${proof}HeaderName`] = textAt(config, ['auth_header_name']) || 'Authorization'
    values[`${proof}Query`] = config.use_param === true
    values[`${proof}QueryName`] = textAt(config, ['param_name'])
    values[`${proof}Cookie`] = config.use_cookie === true
    values[`${proof}CookieName`] = textAt(config, ['cookie_name'])
  }
  return values
}

/** The switches and places of a classic definition as the form has them. */
export function withProofsInClassic(classic: Definition, values: FormValues): Definition {
  const proofs = proofsIn(values)
  const next: Record<string, Definition[string]> = { ...classic }
  for (const name of [...OTHERS, ...PROOFS.map((proof) => KINDS[proof].on)])
    if (next[name] !== undefined) next[name] = false
  if (at(next, ['external_oauth', 'enabled']) === true)
    next.external_oauth = { ...objectAt(next, ['external_oauth']), enabled: false }
  const configs: Record<string, Definition[string]> = { ...objectAt(classic, ['auth_configs']) }
  for (const proof of proofs) {
    const { on, config } = KINDS[proof]
    const own = objectAt(configs, [config])
    const certificate = proof === 'token' && values.tokenCertificate === true
    next[on] = true
    configs[config] = {
      ...own,
      disable_header: values[`${proof}Header`] !== true,
      auth_header_name: String(values[`${proof}HeaderName`]),
      use_param: values[`${proof}Query`] === true,
      param_name: String(values[`${proof}QueryName`]),
      use_cookie: values[`${proof}Cookie`] === true,
      cookie_name: String(values[`${proof}CookieName`]),
      ...((certificate || own.use_certificate !== undefined) && { use_certificate: certificate }),
    }
  }
  return proofs.length === 0 ? next : { ...next, auth_configs: configs }
}

/** What the extension holds of a proof, with its place as the form has it. */
export function placeInOpenapi(held: Definition, proof: Proof, values: FormValues): Definition {
  const place = (where: string) => ({
    enabled: values[`${proof}${where}`] === true,
    name: String(values[`${proof}${where}Name`]),
  })
  const certificate = values.tokenCertificate === true
  return {
    ...held,
    enabled: true,
    ...{ header: place('Header'), query: place('Query'), cookie: place('Cookie') },
    ...(proof === 'token' &&
      (certificate || held.enableClientCertificate !== undefined) && { enableClientCertificate: certificate }),
  }
}

/** What a document declares of a proof, with what it said before where that fits. */
export function declaredAs(before: Definition, proof: Proof, values: FormValues): Definition {
  if (proof !== 'token') return { ...before, ...KINDS[proof].declared }
  const place = values.tokenHeader === true ? 'Header' : values.tokenQuery === true ? 'Query' : 'Cookie'
  return { type: 'apiKey', in: place.toLowerCase(), name: String(values[`token${place}Name`]) || 'Authorization' }
}

/** The name of the scheme of a proof that is in use or declared, else one for a new scheme. */
export function schemeOf(document: Definition, proof: Proof): string {
  const { config, declared } = KINDS[proof]
  if (declared === undefined) return config
  const known = objectAt(document, ['components', 'securitySchemes'])
  const held = objectAt(document, [...AUTHENTICATION, 'securitySchemes'])
  const isOfKind = (name: string) =>
    textAt(known, [name, 'type']) === declared.type &&
    textAt(known, [name, 'scheme']).toLowerCase() === (declared.scheme ?? '')
  const names = Object.keys(known).filter(isOfKind)
  const inUse = names.find((name) => at(held, [name, 'enabled']) === true)
  const found = inUse ?? names.find((name) => isObject(held[name])) ?? names[0]
  if (found !== undefined) return found
  let fresh = config
  while (known[fresh] !== undefined) fresh += '_'
  return fresh
}

/** What a classic definition calls a proof where it lets callers choose. */
export function wordOf(classic: Definition, proof: Proof): string {
  const { config } = KINDS[proof]
  return textAt(classic, ['auth_configs', config, 'name']) || config
}

/** Where a document holds the settings of a proof. */
export function configuredAt(document: Definition, proof: Proof): readonly string[] {
  return proof === 'hmac' ? HMAC : [...AUTHENTICATION, 'securitySchemes', schemeOf(document, proof)]
}

/** The place of a credential in a classic definition. */
export function configAt(proof: Proof): readonly string[] {
  return ['auth_configs', KINDS[proof].config]
}
