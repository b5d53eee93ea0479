import assert from 'node:assert/strict'
import { Fault } from '../../../src/errors/fault.ts'
import { type Merged, mergePolicies } from '../../../src/model/policies/merge-policies.ts'
import type { AccessDefinition, Policy, Session } from '../../../src/model/sessions/session.ts'

/** Access rights from ids, or from definitions of API `A` unless they say otherwise. */
export function rights(...apis: (string | Partial<AccessDefinition>)[]): Record<string, AccessDefinition> {
  const list = apis.map((api) => (typeof api === 'string' ? { api_id: api } : { api_id: 'A', ...api }))
  return Object.fromEntries(list.map((right) => [right.api_id, right]))
}

/** A session that names so many policies: P1, P2 and so on. */
export function keyOf(policies: readonly unknown[], more: Session = {}): Session {
  return { apply_policies: policies.map((_, index) => `P${index + 1}`), ...more }
}

/** Merges policies that must be usable together. */
export function merge(policies: readonly (Policy | undefined)[], more: Session = {}): Merged {
  const merged = mergePolicies(keyOf(policies, more), policies)
  assert.ok(!(merged instanceof Fault), merged instanceof Fault ? merged.message : '')
  return merged
}
