import type { JsonObject } from '../json/json.ts'

/** Members of a session that bind it to client certificates. */
export const BINDING_MEMBERS = ['certificate', 'mtls_static_certificate_bindings'] as const

/** The SHA-256 of a certificate that is named by it or by its id in the organisation, lower-case hex; undefined when it is neither. */
export function fingerprintOf(named: unknown, orgId: string): string | undefined {
  if (typeof named !== 'string') return undefined
  const hex = (orgId !== '' && named.startsWith(orgId) ? named.slice(orgId.length) : named).toLowerCase()
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined
}

/** The names by which a session is bound, of each member that binds it. */
export function bindingsOf(body: JsonObject): (readonly unknown[])[] {
  return BINDING_MEMBERS.map((name) => {
    const value = body[name]
    if (Array.isArray(value)) return value
    return value === undefined || value === null || value === '' ? [] : [value]
  }).filter((names) => names.length > 0)
}

/**
 * SHA-256 of the certificates with one of which a session may be used: those that all its members name. undefined = it is not bound;
 * empty = nobody can use it, because what it names is no certificate or not the same one.
 */
export function allowedCertificates(body: JsonObject, orgId: string): ReadonlySet<string> | undefined {
  let allowed: ReadonlySet<string> | undefined
  for (const names of bindingsOf(body)) {
    const listed = new Set(names.map((name) => fingerprintOf(name, orgId)).filter((each) => each !== undefined))
    allowed = allowed === undefined ? listed : allowed.intersection(listed)
  }
  return allowed
}
