import type { PlainField } from './fields.ts'
import type { FormValues } from './form-values.ts'

const BLANK: Partial<Record<PlainField['kind'], FormValues[string]>> = { switch: false, list: [], choices: [] }

/** The values that fields show of a record whose members have their names. */
export function valuesFrom(fields: readonly PlainField[], record: Readonly<Record<string, unknown>>): FormValues {
  return Object.fromEntries(
    fields.map(({ name, kind }) => [name, (record[name] as FormValues[string] | undefined) ?? BLANK[kind] ?? '']),
  )
}

/** The members of a record that these fields hold. */
export function membersFrom(fields: readonly PlainField[], values: FormValues): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, memberOf(field, values[field.name])]))
}

function memberOf({ kind }: PlainField, value: FormValues[string] | undefined): unknown {
  if (kind === 'switch') return value === true
  if (kind === 'number') return Number(value) || 0
  return kind === 'list' || kind === 'choices' ? value : String(value ?? '')
}
