import type { Limits, Rights } from '../../api/access/keys.ts'
import { type Partitions, POLICY_STATES, type Policy, type PolicyState } from '../../api/access/policies.ts'
import type { PlainField } from '../../parts/forms/fields.ts'
import type { FormValues } from '../../parts/forms/record-form.tsx'
import { membersFrom, valuesFrom } from '../../parts/forms/record-values.ts'
import { say } from '../../texts/say.ts'

/** Parts that a policy may decide alone. */
export const PARTS = ['acl', 'rate_limit', 'quota'] as const
export type Part = (typeof PARTS)[number]

const DAY_S = 86_400

/** Members of a policy that a field of the same name holds. */
export const plainFields = (): readonly PlainField[] => [
  { kind: 'list', name: 'tags', label: say('policies.tags'), hint: say('policies.tagsHint') },
]

/** The form values of a policy. Access rights and limits are JSON: a form holds texts. */
export function valuesOf(policy: Partial<Policy>): FormValues {
  const { rate = 0, per = 0, quota_max = 0, quota_renewal_rate = 0, partitions } = policy
  const decided = PARTS.filter((part) => partitions?.[part] === true)
  return {
    name: policy.name ?? '',
    state: policy.state ?? 'active',
    rights: JSON.stringify(policy.access_rights ?? {}),
    limits: JSON.stringify({ rate, per, quota_max, quota_renewal_rate }),
    decides: decided.length === 0 ? [...PARTS] : decided,
    perApi: partitions?.per_api === true,
    keyLifeDays: Math.round((policy.key_expires_in ?? 0) / DAY_S) || '',
    ...valuesFrom(plainFields(), policy),
  }
}

/** The policy that a form describes, over the one before: what the form does not show stays. */
export function policyOf(values: FormValues, before: Partial<Policy>): Partial<Policy> {
  const state = stateIn(values)
  const days = Number(values.keyLifeDays) || 0
  const lifeDays = Math.round((before.key_expires_in ?? 0) / DAY_S)
  return {
    ...before,
    name: String(values.name).trim(),
    state,
    active: state === 'active',
    is_inactive: state === 'deny',
    access_rights: rightsIn(values),
    ...limitsIn(values),
    partitions: partitionsOf(values, before),
    key_expires_in: days === lifeDays ? (before.key_expires_in ?? 0) : days * DAY_S,
    ...membersFrom(plainFields(), values),
  }
}

/** Rights as the form holds them. */
export function rightsIn({ rights }: FormValues): Rights {
  return JSON.parse(String(rights)) as Rights
}

/** Limits as the form holds them. */
export function limitsIn({ limits }: FormValues): Limits {
  return JSON.parse(String(limits)) as Limits
}

/** The state that the form holds. */
export function stateIn({ state }: FormValues): PolicyState {
  return POLICY_STATES.find((each) => each === state) ?? 'active'
}

/** All of them is the same as none: the policy decides everything. */
function partitionsOf({ decides, perApi }: FormValues, { partitions }: Partial<Policy>): Partitions {
  const chosen = new Set(decides as readonly string[])
  const isAll = PARTS.every((part) => chosen.has(part))
  const has = (part: Part) => !isAll && chosen.has(part)
  return {
    acl: has('acl'),
    rate_limit: has('rate_limit'),
    quota: has('quota'),
    complexity: !isAll && partitions?.complexity === true,
    per_api: perApi === true,
  }
}
