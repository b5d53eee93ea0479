import type { Definition } from '../../../api/apis/apis.ts'
import type { FormValues } from '../../../parts/forms/form-values.ts'
import { at, EXTENSION, isObject, objectAt, textAt } from '../editor/tree.ts'
import { PROOFS, type Proof, schemeForm } from './schemes.ts'

export type Method = 'keyless' | Proof | 'several' | 'other'

/** Switches of the classic format for what the form cannot set up. */
const OTHERS = ['use_openid', 'enable_coprocess_auth', 'use_go_plugin_auth', 'custom_plugin_auth_enabled']

/** True for a scheme that OpenAPI cannot declare: it is a section of the extension. */
export const isSection = (proof: Proof): boolean => schemeForm(proof).declared === undefined

/** Where the extension says who may call. */
export const AUTHENTICATION = [EXTENSION, 'server', 'authentication'] as const

/** The proofs of identity that are on; the key where a definition turns nothing on. */
export function proofsOf(classic: Definition): readonly Proof[] {
  if (classic.use_keyless === true) return []
  const on = PROOFS.filter((proof) => classic[schemeForm(proof).on] === true)
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

/** The proofs that the form selects. */
export function proofsIn({ method, methods }: FormValues): readonly Proof[] {
  if (method === 'several') return PROOFS.filter((proof) => Array.isArray(methods) && methods.includes(proof))
  return PROOFS.filter((proof) => proof === method)
}

/** The name of a proof in `base_identity_provided_by`, and the proof of a name. */
export const identityOf = (proof: Proof): string => schemeForm(proof).identity
export const proofOfIdentity = (identity: string): Proof | undefined =>
  PROOFS.find((proof) => schemeForm(proof).identity === identity)

/** The place of a proof in a classic definition: in its own member, else in the older one that all share. */
export function placeOf(classic: Definition, proof: Proof): Definition {
  const own = objectAt(classic, ['auth_configs', schemeForm(proof).config])
  return Object.keys(own).length > 0 ? own : objectAt(classic, ['auth'])
}

/** The form values for the places of all proofs. */
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
  for (const name of [...OTHERS, ...PROOFS.map((proof) => schemeForm(proof).on)])
    if (next[name] !== undefined) next[name] = false
  if (at(next, ['external_oauth', 'enabled']) === true)
    next.external_oauth = { ...objectAt(next, ['external_oauth']), enabled: false }
  const configs: Record<string, Definition[string]> = { ...objectAt(classic, ['auth_configs']) }
  for (const proof of proofs) {
    const { on, config } = schemeForm(proof)
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

/** The extension's part about a proof, with the place from the form. */
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

/** The declaration of a proof in a document; earlier members that still fit are kept. */
export function declaredAs(before: Definition, proof: Proof, values: FormValues): Definition {
  if (proof !== 'token') return { ...before, ...schemeForm(proof).declared }
  const place = values.tokenHeader === true ? 'Header' : values.tokenQuery === true ? 'Query' : 'Cookie'
  return { type: 'apiKey', in: place.toLowerCase(), name: String(values[`token${place}Name`]) || 'Authorization' }
}

/** The name of the scheme of a proof that is in use or declared, else one for a new scheme. */
export function schemeOf(document: Definition, proof: Proof): string {
  const { config, declared } = schemeForm(proof)
  if (declared === undefined) return config
  const known = objectAt(document, ['components', 'securitySchemes'])
  const held = objectAt(document, [...AUTHENTICATION, 'securitySchemes'])
  const isOfKind = (name: string) =>
    textAt(known, [name, 'type']) === declared.type &&
    textAt(known, [name, 'scheme']).toLowerCase() === (declared.scheme ?? '') &&
    // Of tokens of another issuer, which are declared alike.
    at(held, [name, 'providers']) === undefined
  const names = Object.keys(known).filter(isOfKind)
  const inUse = names.find((name) => at(held, [name, 'enabled']) === true)
  const found = inUse ?? names.find((name) => isObject(held[name])) ?? names[0]
  if (found !== undefined) return found
  let fresh = config
  while (known[fresh] !== undefined) fresh += '_'
  return fresh
}

/** The name of a proof in a classic definition that lets callers choose. */
export function wordOf(classic: Definition, proof: Proof): string {
  const { config } = schemeForm(proof)
  return textAt(classic, ['auth_configs', config, 'name']) || config
}

/** Where a document holds the settings of a proof. */
export function configuredAt(document: Definition, proof: Proof): readonly string[] {
  return isSection(proof)
    ? [...AUTHENTICATION, schemeForm(proof).config]
    : [...AUTHENTICATION, 'securitySchemes', schemeOf(document, proof)]
}

/** The place of a credential in a classic definition. */
export function configAt(proof: Proof): readonly string[] {
  return ['auth_configs', schemeForm(proof).config]
}
