import type { Choice, Field, FormValues, Heading } from '../../../parts/forms/record-form.tsx'
import { GRANT_CHOICES } from '../../../texts/grants.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { jwtFields, letInFields } from './authentication-method-fields.tsx'
import { proofsIn } from './authentication-methods.ts'
import { setWord, unknownWordIn, unnamedIn } from './authentication-several.ts'
import type { Setting } from './scheme-setting.ts'
import { PROOFS, type Proof, schemeForm } from './schemes.ts'

type Entry = Field | Heading

const choices = (field: string, values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, label: say(`apiAuth.${field}.${value}` as TextName) }))

const words = (name: string) => ({
  name,
  label: say(`apiAuth.${name}` as TextName),
  hint: say(`apiAuth.${name}Hint` as TextName),
})

const uses = (proof: Proof) => (all: FormValues) => proofsIn(all).includes(proof)
const asks = ({ method }: FormValues) => method !== 'keyless' && method !== 'other'
const isSeveral = ({ method }: FormValues) => method === 'several'
const isOauth = uses('oauth')
const hasCode = (all: FormValues) => isOauth(all) && listed(all.flows).includes('authorization_code')
const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])
const isAddress = (value: unknown) => (/^https?:\/\/\S+$/i.test(String(value)) ? undefined : say('apis.addressWanted'))

/** The fields of the Authentication tab; `isOther` adds the method that only the text can set up. */
export function authenticationFields(isOther: boolean): readonly Entry[] {
  const methods = ['keyless', ...PROOFS, 'several', ...(isOther ? ['other'] : [])]
  return [
    { ...words('method'), kind: 'choice', choices: choices('method', methods) },
    ...severalFields(),
    // The authorization server is the longest part.
    ...PROOFS.filter((proof) => proof !== 'oauth').flatMap(part),
    ...part('oauth'),
    ...oauthFields(),
    ...lifeFields(),
    ...notificationFields(),
    { heading: say('apiAuth.besides'), isPart: true, when: (all) => all.method !== 'other' },
    { ...words('strip'), kind: 'switch', when: asks },
    ...letInFields(({ method }) => method !== 'other'),
  ]
}

function severalFields(): readonly Entry[] {
  const atLeastTwo = (value: unknown) => (listed(value).length < 2 ? say('apiAuth.methodsFew') : undefined)
  const isChoice = (all: FormValues) => isSeveral(all) && all.mode === 'one'
  return [
    {
      ...{ ...words('methods'), kind: 'choices', required: true, when: isSeveral, check: atLeastTwo },
      choices: choices('proof', PROOFS),
    },
    { ...words('mode'), kind: 'choice', choices: choices('mode', ['all', 'one']), when: isSeveral },
    {
      ...{ ...words('sets'), kind: 'list', when: isChoice, suggestions: PROOFS.map(setWord) },
      check: (value, all) => setsFault(listed(value), proofsIn(all)),
    },
    {
      ...{ ...words('identity'), kind: 'choice', clearable: true, when: isSeveral },
      choices: choices('proof', PROOFS),
      check: (value, all) => (listed(all.methods).includes(String(value)) ? undefined : say('apiAuth.identityOther')),
    },
  ]
}

function setsFault(sets: readonly string[], proofs: readonly Proof[]): string | undefined {
  for (const set of sets) {
    const word = unknownWordIn(set, proofs)
    if (word !== undefined) return say('apiAuth.setsStranger', { word, words: proofs.map(setWord).join(', ') })
  }
  const unnamed = unnamedIn(sets, proofs)
  return unnamed === undefined ? undefined : say('apiAuth.setsUnnamed', { word: setWord(unnamed) })
}

/** One authentication method: where the credential is, and its other settings. */
function part(proof: Proof): readonly Entry[] {
  const isUsed = uses(proof)
  const { settings, takesCertificates } = schemeForm(proof)
  const place = (name: string, where: string) => ({ ...words(name), name: `${proof}${where}` })
  const named = (where: string) => (all: FormValues) => isUsed(all) && all[`${proof}${where}`] === true
  return [
    {
      ...{ heading: say(`apiAuth.proof.${proof}`), hint: say(`apiAuth.proofHint.${proof}`) },
      ...{ isPart: true, when: isUsed },
    },
    { ...place('header', 'Header'), kind: 'switch', when: isUsed },
    { ...place('headerName', 'HeaderName'), kind: 'text', required: true, when: named('Header') },
    { ...place('query', 'Query'), kind: 'switch', when: isUsed },
    { ...place('queryName', 'QueryName'), kind: 'text', required: true, when: named('Query') },
    { ...place('cookie', 'Cookie'), kind: 'switch', when: isUsed },
    { ...place('cookieName', 'CookieName'), kind: 'text', required: true, when: named('Cookie') },
    ...(takesCertificates ? certificateFields() : []),
    ...settings.flatMap((each) => settingField(each, isUsed)),
    ...(proof === 'jwt' ? jwtFields(isUsed) : []),
  ]
}

function settingField({ name, field }: Setting, isUsed: (all: FormValues) => boolean): readonly Field[] {
  if (field === undefined) return []
  const when = (all: FormValues) => isUsed(all) && field.when?.(all) !== false
  return [{ ...field, ...words(name), when }]
}

function certificateFields(): readonly Entry[] {
  return [{ ...words('tokenCertificate'), kind: 'switch', when: uses('token') }]
}

function oauthFields(): readonly Entry[] {
  return [
    { heading: say('apiAuth.server'), when: isOauth },
    {
      ...words('flows'),
      ...{ kind: 'choices', choices: GRANT_CHOICES.map(({ type, label }) => ({ value: type, label })) },
      when: isOauth,
    },
    {
      ...words('authorizeTypes'),
      kind: 'choices',
      choices: choices('authorizeTypes', ['code', 'token']),
      when: hasCode,
    },
    {
      ...words('loginRedirect'),
      ...{ kind: 'url', placeholder: 'https://login.example.com/authorize', when: hasCode, check: isAddress },
    },
    { ...words('refresh'), kind: 'switch', when: isOauth },
    { ...words('device'), kind: 'switch', when: isOauth },
    { ...words('pkce'), kind: 'switch', when: hasCode },
    { ...words('pushed'), kind: 'switch', when: hasCode },
    { ...words('openRegistration'), kind: 'switch', when: hasCode },
    { ...words('clientIdMetadata'), kind: 'switch', when: hasCode },
    { ...words('registrationPolicies'), kind: 'list', when: isOauth },
    { ...words('scopes'), kind: 'area', rows: 3, placeholder: say('apiAuth.scopesExample'), when: isOauth },
  ]
}

function lifeFields(): readonly Entry[] {
  const seconds = (name: string, when: (all: FormValues) => boolean): Field => ({
    ...words(name),
    ...{ kind: 'number', min: 0, unit: 's', when },
  })
  const rules = ['off', 'allowed', 'required']
  return [
    { heading: say('apiAuth.tokens'), when: isOauth },
    { ...words('resources'), kind: 'list', when: isOauth },
    { ...words('tokenFormat'), kind: 'choice', choices: choices('tokenFormat', ['opaque', 'jwt']), when: isOauth },
    {
      ...words('signing'),
      ...{ kind: 'choice', choices: choices('signing', ['ES256', 'RS256']) },
      when: (all) => isOauth(all) && all.tokenFormat === 'jwt',
    },
    {
      ...words('tokenType'),
      ...{ kind: 'choice', choices: choices('tokenType', ['at+jwt', 'JWT']) },
      when: (all) => isOauth(all) && all.tokenFormat === 'jwt',
    },
    seconds('accessLife', isOauth),
    seconds('refreshLife', (all) => isOauth(all) && all.refresh === true),
    seconds('grace', (all) => isOauth(all) && all.refresh === true),
    seconds('codeLife', hasCode),
    { ...words('dpop'), kind: 'choice', choices: choices('binding', rules), when: isOauth },
    { ...words('mutualTls'), kind: 'choice', choices: choices('binding', rules), when: isOauth },
  ]
}

function notificationFields(): readonly Entry[] {
  return [
    { heading: say('apiAuth.notifications'), when: isOauth },
    {
      ...words('notifyUrl'),
      ...{ kind: 'url', placeholder: 'https://login.example.com/tokens', when: isOauth, check: isAddress },
    },
    {
      ...words('notifySecret'),
      ...{ kind: 'password', autoComplete: 'off', when: (all) => isOauth(all) && all.notifyUrl !== '' },
    },
  ]
}
