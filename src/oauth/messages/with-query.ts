import { searchParams } from '../../model/network/media-type.ts'

/**
 * Adds parameters to the query of an address (form-encoded, RFC 6749 appendix B): what the query holds already stays as it is,
 * and a fragment stays behind it. Parameters that are `undefined` are left out.
 */
export function withQuery(
  address: string,
  params: Iterable<readonly [name: string, value: string | undefined]>,
): string {
  const added = new URLSearchParams()
  for (const [name, value] of params) if (value !== undefined) added.append(name, value)
  if (added.size === 0) return address
  const hash = address.indexOf('#')
  const base = hash === -1 ? address : address.slice(0, hash)
  const fragment = hash === -1 ? '' : address.slice(hash)
  return `${base}${joint(base)}${added.toString()}${fragment}`
}

/** Names of the parameters that an address holds in its query. */
export function queryNames(address: string): ReadonlySet<string> {
  const hash = address.indexOf('#')
  const base = hash === -1 ? address : address.slice(0, hash)
  const mark = base.indexOf('?')
  return new Set(mark === -1 ? [] : searchParams(base.slice(mark + 1)).keys())
}

function joint(base: string): string {
  if (!base.includes('?')) return '?'
  return base.endsWith('?') || base.endsWith('&') ? '' : '&'
}
