import { say } from '../../texts/say.ts'
import type { Choice } from '../forms/fields.ts'
import type { FormValue, FormValues } from '../forms/form-values.ts'
import { isSame } from '../forms/same.ts'

/** A field, as far as a change of it is said in words. */
export interface SaidField {
  readonly name: string
  readonly label: string
  readonly kind: string
  readonly choices?: readonly Choice[]
  readonly when?: (all: FormValues) => boolean
}

/** One change that a save would make. */
export interface WordedChange {
  readonly label: string
  /** Absent where the values are no words: secrets, tables, long texts. */
  readonly values?: { readonly before: string; readonly after: string }
}

/** The changes of a form, in the order of its fields. */
export function changesOfFields(
  fields: readonly SaidField[],
  before: FormValues,
  after: FormValues,
): readonly WordedChange[] {
  return fields
    .filter((field) => !isSame(before[field.name], after[field.name]))
    .map((field) => {
      const values = { before: wordsOf(field, before), after: wordsOf(field, after) }
      const isShort = values.before !== undefined && values.after !== undefined
      return { label: field.label, ...(isShort && { values: values as { before: string; after: string } }) }
    })
}

/** Longer texts are read in the difference. */
const MOST_CHARACTERS = 48
const SAID_KINDS: ReadonlySet<string> = new Set([
  'text',
  'email',
  'url',
  'date',
  'number',
  'switch',
  'list',
  'choice',
  'choices',
])

function wordsOf({ name, kind, choices = [], when }: SaidField, values: FormValues): string | undefined {
  if (!SAID_KINDS.has(kind)) return undefined
  const value = values[name]
  if (value === undefined || when?.(values) === false) return say('review.unset')
  const text = typeof value === 'boolean' ? say(value ? 'review.on' : 'review.off') : textOf(value, choices)
  return text.length > MOST_CHARACTERS ? undefined : text || say('review.unset')
}

function textOf(value: Exclude<FormValue, boolean>, choices: readonly Choice[]): string {
  const label = (one: string) => choices.find((choice) => choice.value === one)?.label ?? one
  return typeof value === 'string' || typeof value === 'number'
    ? label(String(value))
    : value.map((one) => label(one)).join(', ')
}

/** The names of members on the way to each place where two documents differ, at most so many places. */
export function placesChanged(before: unknown, after: unknown, most: number): readonly (readonly string[])[] {
  const places: string[][] = []
  const walk = (one: unknown, other: unknown, path: readonly string[]) => {
    if (places.length >= most || Object.is(one, other)) return
    if (!isPlain(one) || !isPlain(other)) {
      if (!isSame(one, other)) places.push([...path])
      return
    }
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      walk(one[name], other[name], [...path, name])
  }
  walk(before, after, [])
  return places
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A document in which texts that were typed as secrets read `***`. */
export function withoutTyped(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return secrets.includes(value) ? '***' : value
  if (Array.isArray(value)) return value.map((one) => withoutTyped(one, secrets))
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutTyped(one, secrets)]))
}
