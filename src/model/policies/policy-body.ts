import { isObject, type JsonObject } from '../json/json.ts'

/** The state that a policy is listed by: `deny`, `draft` or `active`. One that says nothing is active. */
export function stateOf(body: JsonObject): string {
  if (body.state === 'deny' || body.state === 'draft') return body.state
  if (body.is_inactive === true) return 'deny'
  return body.active === false ? 'draft' : 'active'
}

/** The APIs that a policy gives rights to, each once. */
export function policyApisOf(body: JsonObject): string[] {
  const rights = isObject(body.access_rights) ? Object.keys(body.access_rights) : []
  const listed = Array.isArray(body.access_rights_array) ? body.access_rights_array.filter(isObject) : []
  const ids = listed.map(({ api_id }) => api_id).filter((id) => typeof id === 'string')
  return [...new Set([...rights, ...ids])]
}

/** The kinds of authentication that a policy says it is for: `auth_type` and `auth_types`. */
export function policyAuthTypesOf({ auth_type, auth_types }: JsonObject): string[] {
  const listed = Array.isArray(auth_types) ? auth_types : []
  const all = [auth_type, ...listed].filter((type): type is string => typeof type === 'string' && type !== '')
  return [...new Set(all)]
}
