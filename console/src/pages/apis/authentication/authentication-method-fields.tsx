import type { Choice, Field, FormValue, FormValues, Heading } from '../../../parts/forms/record-form.tsx'
import { PolicyPicker } from '../../../parts/portal/policy-picker.tsx'
import { say, type TextName } from '../../../texts/say.ts'

type Entry = Field | Heading
type When = (all: FormValues) => boolean

const FAMILIES = ['rsa', 'ecdsa', 'eddsa']
/** A key of base64: 32 bytes are what a secret must have. */
const FEWEST_LETTERS = 43

const words = (name: string) => ({
  name,
  label: say(`apiAuth.${name}` as TextName),
  hint: say(`apiAuth.${name}Hint` as TextName),
})
const choices = (field: string, values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, label: say(`apiAuth.${field}.${value}` as TextName) }))
const listed = (value: FormValue | undefined): readonly string[] => (Array.isArray(value) ? value : [])

/** The settings for JWTs of another issuer. */
export function jwtFields(when: When): readonly Entry[] {
  const text = (name: string): Field => ({ ...words(name), kind: 'text', when })
  const list = (name: string): Field => ({ ...words(name), kind: 'list', when })
  const seconds = (name: string): Field => ({ ...words(name), ...{ kind: 'number', min: 0, unit: 's', when } })
  return [
    ...keyFields(when),
    list('jwtIssuers'),
    list('jwtAudiences'),
    list('jwtSubjects'),
    text('jwtIdentity'),
    text('jwtClient'),
    defaultPolicies(when),
    text('jwtPolicyClaim'),
    text('jwtScopeClaim'),
    { ...words('jwtScopes'), ...{ kind: 'area', rows: 2, when, check: scopesFault } },
    seconds('jwtExpiresSkew'),
    seconds('jwtNotBeforeSkew'),
    seconds('jwtIssuedSkew'),
  ]
}

/** Where the key comes from that signatures of tokens are checked with. */
function keyFields(when: When): readonly Entry[] {
  const kind = (wanted: string) => (all: FormValues) => when(all) && all.jwtKeys === wanted
  return [
    { ...words('jwtKeys'), kind: 'choice', choices: choices('jwtKeys', ['sets', 'key', 'secret']), when },
    {
      ...{ ...words('jwtSets'), kind: 'list', required: true, when: kind('sets'), check: setsFault },
      placeholder: 'https://login.example.com/jwks.json',
    },
    {
      ...{ ...words('jwtFamily'), kind: 'choice', clearable: true, choices: choices('jwtFamily', FAMILIES) },
      ...{ when: (all) => when(all) && all.jwtKeys !== 'secret' },
    },
    {
      ...{ ...words('jwtKey'), kind: 'area', isCode: true, rows: 4, required: true, when: kind('key') },
      placeholder: '-----BEGIN PUBLIC KEY-----',
    },
    {
      ...{ ...words('jwtSecret'), kind: 'password', autoComplete: 'off', required: true, when: kind('secret') },
      check: (value) => (String(value).trim().length < FEWEST_LETTERS ? say('apiAuth.jwtSecretShort') : undefined),
    },
  ]
}

function setsFault(value: FormValue): string | undefined {
  return listed(value).every((each) => /^https?:\/\/\S+(?:\s+\d+)?$/i.test(each.trim()))
    ? undefined
    : say('apiAuth.jwtSetsWanted')
}

function scopesFault(value: FormValue): string | undefined {
  const lines = String(value)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.every((line) => line.trim().split(/\s+/).length === 2) ? undefined : say('apiAuth.jwtScopesWanted')
}

function defaultPolicies(when: When): Field {
  const { name, label, hint } = words('jwtPolicies')
  return {
    ...{ kind: 'part', name, label, when },
    draw: (form, readOnly) => {
      const { value, onChange, error } = form.getInputProps(name)
      return <PolicyPicker {...{ label, hint, value, onChange, error, readOnly }} />
    },
  }
}

/** The allowed client certificates, for all methods. */
export function letInFields(when: When): readonly Entry[] {
  const isCertificate = (value: string) => /[0-9a-f]{64}$/i.test(value.trim())
  return [
    { ...words('letIn'), kind: 'switch', when },
    {
      ...{ ...words('letInIds'), kind: 'list', required: true },
      when: (all) => when(all) && all.letIn === true,
      check: (value) => (listed(value).every(isCertificate) ? undefined : say('apiAuth.letInIdsWanted')),
    },
  ]
}
