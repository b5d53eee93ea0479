import type { KeySession, Limits, Rights } from '../../api/access/keys.ts'
import type { FormValues } from '../../parts/forms/record-form.tsx'
import { pairsOf, textsOf } from '../developers/pairs-input.tsx'
import { proofValues } from './key-proofs.ts'

const LAST_SECOND_MS = 86_399_000

/** The form values of a key's session. Access rights and limits are JSON: a form holds texts. */
export function valuesOf(session: KeySession): FormValues {
  const policies = policiesOf(session)
  const rights = session.access_rights ?? {}
  const texts = Object.entries(session.meta_data ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return {
    by: policies.length > 0 || Object.keys(rights).length === 0 ? 'policies' : 'rights',
    policies,
    rights: JSON.stringify(rights),
    limits: JSON.stringify(limitsOf(session)),
    alias: session.alias ?? '',
    expires: dayOf(session.expires ?? 0),
    tags: session.tags ?? [],
    metadata: pairsOf(Object.fromEntries(texts)),
    ...proofValues(session),
  }
}

/** The session that a form describes, its proofs apart, over the one before: what the form does not show stays. */
export function sessionOf(values: FormValues, before: KeySession): KeySession {
  const isByPolicy = values.by === 'policies'
  const { apply_policy_id: _older, ...rest } = before
  return {
    ...rest,
    alias: String(values.alias),
    expires: dayOf(before.expires ?? 0) === values.expires ? (before.expires ?? 0) : endOfDay(String(values.expires)),
    tags: values.tags as readonly string[],
    meta_data: metadataOf(values, before),
    apply_policies: isByPolicy ? (values.policies as readonly string[]) : [],
    ...(isByPolicy ? {} : { access_rights: rightsIn(values), ...(JSON.parse(String(values.limits)) as Limits) }),
    // Own access rights and policies together are neither: only what partitions of policies leave open would stay.
    ...(isByPolicy && policiesOf(before).length === 0 && { access_rights: {} }),
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

/** True when there is something that a session can be made of. */
export function hasAccess(values: FormValues): boolean {
  return values.by === 'policies'
    ? (values.policies as readonly string[]).length > 0
    : Object.keys(rightsIn(values)).length > 0
}

function policiesOf({ apply_policies: list, apply_policy_id: single }: KeySession): readonly string[] {
  if (list !== undefined && list !== null && list.length > 0) return list
  return typeof single === 'string' && single !== '' ? [single] : []
}

function limitsOf({ rate = 0, per = 0, quota_max = 0, quota_renewal_rate = 0 }: KeySession): Limits {
  return { rate, per, quota_max, quota_renewal_rate }
}

/** A value that was not text and is still JSON keeps its type. */
function metadataOf(values: FormValues, before: KeySession): Record<string, unknown> {
  const old = before.meta_data ?? {}
  return Object.fromEntries(
    Object.entries(textsOf(values.metadata)).map(([name, text]) => {
      const was = Object.hasOwn(old, name) ? old[name] : ''
      return [name, typeof was === 'string' ? text : (jsonOf(text) ?? text)]
    }),
  )
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The day of a moment in the reader's zone, as fields of dates want it; '' for none. */
function dayOf(seconds: number): string {
  if (seconds <= 0) return ''
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

/** The last second of a day in the reader's zone; 0 for none. */
export function endOfDay(day: string): number {
  if (day === '') return 0
  return Math.floor((new Date(`${day}T00:00:00`).getTime() + LAST_SECOND_MS) / 1000)
}
