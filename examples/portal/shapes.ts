import { isJson, type Json, numberIn, objectIn, objectsIn, textIn, textsIn } from './dashboard.ts'

/** A field that a person fills in. */
export interface Field {
  readonly name: string
  readonly needed: boolean
}

/** How the portal behaves. */
export interface Rules {
  readonly orgId: string
  readonly loginOff: boolean
  readonly signUpOff: boolean
  readonly catalogueForMembers: boolean
  readonly signUpFields: readonly Field[]
  readonly requestFields: readonly Field[]
  readonly approval: boolean
  readonly redirectTo: string
}

/** An entry of the catalogue. */
export interface Entry {
  /** In addresses of pages. */
  readonly slug: string
  readonly name: string
  readonly summary: string
  /** Markdown. */
  readonly description: string
  readonly policyId: string
  readonly apiId: string
  readonly documentation: string
  readonly sort: 'key' | 'app' | 'open'
  readonly fields: readonly Field[]
  /** A person has to approve requests. */
  readonly approval: boolean
  /** Where requests lead; '' = nowhere. */
  readonly redirectTo: string
}

/** Requests that a key may still make. */
export interface Quota {
  /** Of which API; '' = of all together. */
  readonly api: string
  readonly max: number
  readonly left: number
  /** Unix seconds; 0 = with the next request. */
  readonly renews: number
}

/** A developer's key, without the key. */
export interface Key {
  readonly id: string
  readonly policies: readonly string[]
  readonly status: string
  readonly created: string
  /** Unix seconds; 0 = never. */
  readonly expires: number
  /** '' = never. */
  readonly lastUsed: string
  readonly quotas: readonly Quota[]
  /** Until when a rotated key is good; '' for others. */
  readonly validUntil: string
  readonly rotatedFrom: string
}

/** An OAuth app, without its secret. */
export interface App {
  readonly clientId: string
  readonly name: string
  readonly useCase: string
  readonly redirectUri: string
  readonly created: string
  readonly policyId: string
  readonly developerId: string
}

/** A request for access. */
export interface Wish {
  readonly id: string
  readonly developerId: string
  readonly policies: readonly string[]
  readonly created: string
  readonly approved: boolean
}

/** A developer. */
export interface Developer {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly fields: Json
  readonly apps: readonly App[]
}

const NEVER = '0001-01-01T00:00:00Z'

export function rulesOf(json: Json): Rules {
  return {
    orgId: textIn(json, 'org_id'),
    loginOff: json.disable_login === true,
    signUpOff: json.disable_signup === true,
    catalogueForMembers: json.catalogue_login_only === true,
    signUpFields: fieldsOf(json.signup_fields),
    requestFields: fieldsOf(json.key_request_fields),
    approval: json.require_key_approval === true,
    redirectTo: json.redirect_on_key_request === true ? textIn(json, 'redirect_to') : '',
  }
}

/** An entry of the catalogue; where it overrides the rules of the portal, its own hold. */
export function entryOf(json: Json, rules: Rules): Entry {
  const config = objectIn(json, 'config')
  const says = (name: string) => config.override === true && Object.hasOwn(config, name)
  const own = rulesOf(config)
  const sort = json.is_keyless === true ? 'open' : textIn(json, 'auth_type').startsWith('oauth') ? 'app' : 'key'
  return {
    slug: textIn(json, 'policy_id') || textIn(json, 'api_id'),
    name: textIn(json, 'name'),
    summary: textIn(json, 'short_description'),
    description: textIn(json, 'long_description'),
    policyId: textIn(json, 'policy_id'),
    apiId: textIn(json, 'api_id'),
    documentation: textIn(json, 'documentation'),
    sort,
    fields: says('key_request_fields') ? own.requestFields : rules.requestFields,
    approval: says('require_key_approval') ? own.approval : rules.approval,
    redirectTo: says('redirect_on_key_request') ? own.redirectTo : rules.redirectTo,
  }
}

export function keyOf(json: Json): Key {
  const used = textIn(json, 'last_used')
  return {
    id: textIn(json, 'key_id'),
    policies: textsIn(json, 'policies'),
    status: textIn(json, 'status'),
    created: textIn(json, 'date_created'),
    expires: numberIn(json, 'expires', 0),
    lastUsed: used === NEVER ? '' : used,
    quotas: quotasOf(json),
    validUntil: textIn(json, 'valid_until'),
    rotatedFrom: textIn(json, 'rotated_from'),
  }
}

export function developerOf(json: Json): Developer {
  const id = textIn(json, 'id')
  const fields = objectIn(json, 'fields')
  const held = objectIn(json, 'oauth_clients')
  const apps = Object.keys(held).flatMap((policyId) =>
    objectsIn(held, policyId).map((app) => appOf({ ...app, policy_id: policyId, developer_id: id })),
  )
  return { id, email: textIn(json, 'email'), name: textIn(fields, 'Name'), fields, apps }
}

export function appOf(json: Json): App {
  const clientId = textIn(json, 'client_id')
  return {
    clientId,
    name: textIn(json, 'client_name') || textIn(json, 'app_description') || clientId,
    useCase: textIn(json, 'use_case'),
    redirectUri: textIn(json, 'redirect_uri'),
    created: textIn(json, 'date_created'),
    policyId: textIn(json, 'policy_id'),
    developerId: textIn(json, 'developer_id'),
  }
}

export function wishOf(json: Json): Wish {
  return {
    id: textIn(json, 'id'),
    developerId: textIn(json, 'by_user'),
    policies: textsIn(json, 'apply_policies'),
    created: textIn(json, 'date_created'),
    approved: json.approved === true,
  }
}

function quotasOf(json: Json): Quota[] {
  const common = quotaOf(json, '')
  if (common.max > 0) return [common]
  const rights = objectIn(json, 'access_rights')
  const limitOf = (id: string) => objectIn(objectIn(rights, id), 'limit')
  const own = Object.keys(rights).map((id) => quotaOf(limitOf(id), textIn(objectIn(rights, id), 'api_name') || id))
  return own.filter(({ max }) => max > 0)
}

function quotaOf(json: Json, api: string): Quota {
  const max = numberIn(json, 'quota_max', -1)
  const left = Math.max(0, Math.min(max, numberIn(json, 'quota_remaining', max)))
  return { api, max, left, renews: numberIn(json, 'quota_renews', 0) }
}

/** Fields are listed as names, or as objects with a name. */
function fieldsOf(listed: unknown): Field[] {
  const all: readonly unknown[] = Array.isArray(listed) ? listed : []
  const fields = all.map((field): Json => (isJson(field) ? field : { name: field }))
  return fields.map((field) => ({ name: textIn(field, 'name'), needed: field.required === true }))
}
