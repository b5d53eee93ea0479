import { type Fault, fault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { blankScalars, type ScalarField, type ScalarFields, scalarFlaw } from '../../json/scalar-fields.ts'
import { toEmail } from '../../people/user.ts'
import { normaliseText } from '../../text/fold.ts'

/** Longest name and value of a custom field, and most of them. */
const LONGEST_NAME = 128
const LONGEST_VALUE = 4096
const MOST_FIELDS = 100
/** Longest `nonce` and `sso_key`. */
const LONGEST_KEY = 512
/** Largest record without its keys and apps, in characters of JSON. */
const LARGEST = 65_536

/** Members of a developer that are one value each. */
export const DEVELOPER_FIELDS = {
  inactive: {
    kind: 'flag',
    answered:
      'True: no portal session and no password link. Keys and OAuth apps keep working; `verify_credentials` answers as before.',
    sent: 'true or false.',
  },
  nonce: {
    kind: 'text',
    most: LONGEST_KEY,
    answered: 'Blank for callers who may not write developers.',
    sent: 'Of a sign-in by single sign-on.',
  },
  sso_key: {
    kind: 'text',
    most: LONGEST_KEY,
    answered: 'Blank for callers who may not write developers.',
    sent: 'Name under which the developer signs in elsewhere.',
  },
  password_max_days: {
    kind: 'integer',
    min: 0,
    max: 36_500,
    answered: 'Days after which the password must be changed. 0: never.',
  },
} as const satisfies ScalarFields
const BLANK = blankScalars(DEVELOPER_FIELDS)

/** Members with their own rules; in a sent record they are read elsewhere, or ignored. */
const APART: ReadonlySet<string> = new Set([
  ...['id', '_id', 'org_id', 'password', 'PWHistory', 'password_updated', 'last_login_date', 'date_created'],
  ...['keys', 'subscriptions', 'api_keys', 'oauth_clients'],
])

/**
 * The members of a developer that callers write, from a whole record: what is not sent is as in a new one. Unknown members are taken
 * as they are, null is passed over.
 * @throws Fault `developer_invalid` (400) naming the member
 */
export function readDeveloper(sent: JsonObject): JsonObject {
  const own: JsonObject = {
    email: readEmail(sent.email),
    ...readScalars(sent),
    fields: readFields(sent.fields),
  }
  // They follow from the keys: a record that was read may be sent back.
  for (const name of ['subscriptions', 'api_keys'])
    if (sent[name] != null && !isObject(sent[name])) throw invalid(`${name} must be an object`)
  const others = Object.entries(sent).filter(
    ([name, value]) => value !== null && !APART.has(name) && !Object.hasOwn(own, name),
  )
  const read = { ...Object.fromEntries(others), ...own }
  if (others.some(([name]) => name.length > LONGEST_NAME)) throw invalid('a name is too long')
  if (JSON.stringify(read).length > LARGEST) throw invalid(`the record is larger than ${LARGEST} characters`)
  return read
}

/** The members of a stored developer that a whole record leaves as they are: each has a call, or a rule, of its own. */
export function membersApart(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => APART.has(name)))
}

/** Custom fields: a map of texts; numbers and flags become texts, null is left out. @throws Fault `developer_invalid` (400) */
export function readFields(sent: Json | undefined): { [name: string]: string } {
  if (sent === undefined || sent === null) return {}
  if (!isObject(sent)) throw invalid('fields: must be an object of texts')
  const entries = Object.entries(sent).filter(([, value]) => value !== null)
  if (entries.length > MOST_FIELDS) throw invalid(`fields: at most ${MOST_FIELDS} of them`)
  return Object.fromEntries(entries.map(([name, value]) => [readFieldName(name), readFieldValue(value)]))
}

/** The password in a record: '' = none was sent. @throws Fault `developer_invalid` (400) */
export function sentPassword({ password }: JsonObject): string {
  if (password === undefined || password === null) return ''
  if (typeof password !== 'string') throw invalid('password: must be a text')
  return password
}

/** When a record that comes from elsewhere was made; undefined where nobody says, or no date. */
export function sentDate({ date_created: sent }: JsonObject): string | undefined {
  const time = typeof sent === 'string' ? Date.parse(sent) : Number.NaN
  return time > 0 ? new Date(time).toISOString() : undefined
}

/** A refusal of a record. */
export function invalid(why: string): Fault {
  return fault('developer_invalid', why)
}

/** As it was written, but for blanks around it. */
function readEmail(sent: Json | undefined): string {
  if (typeof sent !== 'string' || toEmail(sent) === undefined) throw invalid('email: must be an email address')
  return normaliseText(sent.trim())
}

/** Those of `DEVELOPER_FIELDS`; what is absent or null is as in a new record. */
function readScalars(sent: JsonObject): JsonObject {
  const read = Object.entries<ScalarField>(DEVELOPER_FIELDS).map(([name, field]) => {
    const value = sent[name] ?? BLANK[name]!
    const flaw = scalarFlaw(field, value)
    if (flaw !== undefined) throw invalid(`${name}: ${flaw}`)
    return [name, value] as const
  })
  return Object.fromEntries(read)
}

function readFieldName(name: string): string {
  if (name === '' || name.length > LONGEST_NAME || /[\x00-\x1f\x7f]/.test(name))
    throw invalid(`fields: a name must have 1 to ${LONGEST_NAME} characters, and no control characters`)
  return name
}

function readFieldValue(value: Json): string {
  if (typeof value === 'object') throw invalid('fields: every value must be a text')
  const text = String(value)
  if (text.length > LONGEST_VALUE || text.includes('\0'))
    throw invalid(`fields: a value must be a text of at most ${LONGEST_VALUE} characters`)
  return text
}
