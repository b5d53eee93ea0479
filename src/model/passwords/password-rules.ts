import { Ajv, type SchemaValidateFunction } from 'ajv'
import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../json/json.ts'
import { PASSWORD_MOST } from './passwords.ts'

/** The broken rules of a password, in words; none when it is good. */
export type PasswordRules = (password: string) => readonly string[]

/** Where nobody says otherwise: length is what counts (NIST SP 800-63B). */
const DEFAULT_PASSWORD_SCHEMA: JsonObject = { title: 'Password', type: 'string', minLength: 8 }

const ROW = 3

/**
 * Makes the rules that a schema states: JSON Schema for a string, and `multiCase` (upper and lower case), `minNumeric` (digits),
 * `minSpecial` (neither letters, digits nor spaces), `disableSequential` (no three characters that count up, count down or are the
 * same). @throws Fault `setting_invalid` for anything else in it
 */
export function passwordRules(schema: JsonObject = DEFAULT_PASSWORD_SCHEMA): PasswordRules {
  const ajv = new Ajv({ allErrors: true, strict: true, verbose: true })
  ajv.addKeyword({ keyword: 'multiCase', type: 'string', schemaType: 'boolean', validate: multiCase })
  ajv.addKeyword({ keyword: 'minNumeric', type: 'string', schemaType: 'number', validate: minNumeric })
  ajv.addKeyword({ keyword: 'minSpecial', type: 'string', schemaType: 'number', validate: minSpecial })
  ajv.addKeyword({ keyword: 'disableSequential', type: 'string', schemaType: 'boolean', validate: noSequence })
  const validate = compiled(ajv, schema)
  return (password) => {
    if (password.length > PASSWORD_MOST) return [`must not be longer than ${PASSWORD_MOST} characters`]
    if (password === '') return ['must not be empty']
    if (validate(password)) return []
    return (validate.errors ?? []).map(({ keyword, schema, message = '' }) => WORDS[keyword]?.(schema) ?? message)
  }
}

/** @throws Fault `password_invalid` (400) that says what is wrong, never what was sent */
export function checkPassword(rules: PasswordRules, password: string): void {
  const flaws = rules(password)
  if (flaws.length > 0) throw fault('password_invalid', flaws.join('; '))
}

function compiled(ajv: Ajv, schema: JsonObject) {
  try {
    return ajv.compile(schema)
  } catch (cause) {
    throw fault('setting_invalid', `the password schema is not valid: ${(cause as Error).message}`, cause)
  }
}

/** The messages for a broken rule, by its keyword. The validator has its own for the other keywords. */
const WORDS: Readonly<Record<string, (wanted: unknown) => string>> = {
  multiCase: () => 'must have upper and lower case letters',
  minNumeric: (least) => `must have at least ${counted(least, 'digit')}`,
  minSpecial: (least) => `must have at least ${counted(least, 'special character')}`,
  disableSequential: () => `must not have ${ROW} characters in a row that count up, count down or are the same`,
}

const counted = (number: unknown, noun: string) => `${String(number)} ${noun}${number === 1 ? '' : 's'}`

const multiCase: SchemaValidateFunction = (wanted: boolean, password: string) =>
  !wanted || (/\p{Lu}/u.test(password) && /\p{Ll}/u.test(password))

const minNumeric: SchemaValidateFunction = (least: number, password: string) =>
  (password.match(/\p{Nd}/gu) ?? []).length >= least

const minSpecial: SchemaValidateFunction = (least: number, password: string) =>
  (password.match(/[^\p{L}\p{N}\s]/gu) ?? []).length >= least

const noSequence: SchemaValidateFunction = (wanted: boolean, password: string) => !wanted || !hasSequence(password)

function hasSequence(password: string): boolean {
  const points = [...password].map((character) => character.codePointAt(0)!)
  return points.some((point, at) => {
    const step = (points[at + 1] ?? Number.NaN) - point
    return Math.abs(step) <= 1 && points[at + 2] === point + 2 * step
  })
}
