import type { Coding } from '../../model/apis/definition/compression-rules.ts'

const MEMBER = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/

/** Members of one field that are looked at: more have no honest sender. */
const MAX_MEMBERS = 50

/**
 * The coding that a client likes best of these, of equals the first (RFC 9110 section 12.5.3); undefined where it wants none, or likes the
 * bytes as they are better. A client that says nothing may not know any.
 */
export function preferredCoding(values: readonly string[], codings: readonly Coding[]): Coding | undefined {
  const weights = new Map<string, number>()
  for (const member of values.join(',').toLowerCase().split(',', MAX_MEMBERS)) {
    const [, name, weight] = MEMBER.exec(member) ?? []
    if (name !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight ?? 1))
  }
  let best: Coding | undefined
  let most = 0
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight <= most) continue
    most = weight
    best = coding
  }
  return (weights.get('identity') ?? 0) > most ? undefined : best
}
