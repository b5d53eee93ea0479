import type { Json, JsonObject } from './json.ts'

/** A member of a record that is one flag, number or text. A row gives its type, its check, its default and its documentation. */
export type ScalarField = (
  | { readonly kind: 'flag' }
  | { readonly kind: 'number'; readonly max?: number }
  /** Bounds inclusive; without them every whole number that a double holds. */
  | { readonly kind: 'integer'; readonly min?: number; readonly max?: number }
  /** `most`: its longest, in characters; then without control characters. */
  | { readonly kind: 'text'; readonly most?: number }
) & {
  /** Its description in answers. */
  readonly answered?: string
  /** An example of its value. */
  readonly example?: number | boolean | string
  /** Its description in requests, where it differs. */
  readonly sent?: string
}

export type ScalarFields = Readonly<Record<string, ScalarField>>

type Scalar<Kind> = Kind extends 'flag' ? boolean : Kind extends 'text' ? string : number

/** A record with all of the fields. */
export type ScalarValues<Fields extends ScalarFields> = {
  readonly [Name in keyof Fields]: Scalar<Fields[Name]['kind']>
}

/** The fields with their defaults: false, 0, ''. */
export function blankScalars(fields: ScalarFields): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, { kind }]) => [name, BLANK[kind]]))
}

const BLANK = { flag: false, number: 0, integer: 0, text: '' } as const

/** The flaw of a field's value; undefined = none. */
export function scalarFlaw(field: ScalarField, value: Json): string | undefined {
  switch (field.kind) {
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'number':
      return numberFlaw(value) ?? mostFlaw(field.max, value)
    case 'integer':
      return integerFlaw(field, value)
    case 'text':
      return textFlaw(field.most, value)
  }
}

/** Whole numbers that a double does not hold exactly would be stored as others than were sent. */
export function numberFlaw(value: Json): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number'
  const most = Number.MAX_SAFE_INTEGER
  return Math.abs(value) > most ? `must lie between -${most} and ${most}` : undefined
}

function integerFlaw({ min, max }: { readonly min?: number; readonly max?: number }, value: Json): string | undefined {
  const isWithin =
    Number.isSafeInteger(value) && (value as number) >= (min ?? -Infinity) && (value as number) <= (max ?? Infinity)
  if (isWithin) return undefined
  if (min === undefined && Number.isSafeInteger(value)) return mostFlaw(max, value)
  return min === undefined || max === undefined
    ? 'must be a whole number'
    : `must be a whole number from ${min} to ${max}`
}

function mostFlaw(max: number | undefined, value: Json): string | undefined {
  return max !== undefined && (value as number) > max ? `must be at most ${max}` : undefined
}

function textFlaw(most: number | undefined, value: Json): string | undefined {
  if (most === undefined) return typeof value === 'string' ? undefined : 'must be a string'
  const isGood = typeof value === 'string' && value.length <= most && !/[\x00-\x1f\x7f]/.test(value)
  return isGood ? undefined : `must be a text of at most ${most} characters`
}
