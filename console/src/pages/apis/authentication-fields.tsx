import type { Choice, Field, FormValues, Heading } from '../../parts/record-form.tsx'
import { say, type TextName } from '../../texts/say.ts'

type Entry = Field | Heading

const choices = (field: string, values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, label: say(`apiAuth.${field}.${value}` as TextName) }))

const words = (name: string) => ({
  name,
  label: say(`apiAuth.${name}` as TextName),
  hint: say(`apiAuth.${name}Hint` as TextName),
})

const reads = ({ method }: FormValues) => method === 'token' || method === 'oauth'
const isOauth = ({ method }: FormValues) => method === 'oauth'
const hasCode = (all: FormValues) => isOauth(all) && listed(all).includes('authorization_code')
const listed = ({ flows }: FormValues) => (Array.isArray(flows) ? flows : [])
const isAddress = (value: unknown) => (/^https?:\/\/\S+$/i.test(String(value)) ? undefined : say('apis.addressWanted'))

/** The fields of the Authentication tab; `isOther` adds the method that only the text can set up. */
export function authenticationFields(isOther: boolean): readonly Entry[] {
  return [...placeFields(isOther), ...oauthFields(), ...lifeFields(), ...notificationFields()]
}

function placeFields(isOther: boolean): readonly Entry[] {
  const methods = ['keyless', 'token', 'oauth', ...(isOther ? ['other'] : [])]
  return [
    { ...words('method'), kind: 'choice', choices: choices('method', methods) },
    { heading: say('apiAuth.where'), when: reads },
    { ...words('header'), kind: 'switch', when: reads },
    { ...words('headerName'), kind: 'text', required: true, when: (all) => reads(all) && all.header === true },
    { ...words('query'), kind: 'switch', when: reads },
    { ...words('queryName'), kind: 'text', required: true, when: (all) => reads(all) && all.query === true },
    { ...words('cookie'), kind: 'switch', when: reads },
    { ...words('cookieName'), kind: 'text', required: true, when: (all) => reads(all) && all.cookie === true },
    { ...words('strip'), kind: 'switch', when: reads },
  ]
}

function oauthFields(): readonly Entry[] {
  return [
    { heading: say('apiAuth.server'), when: isOauth },
    {
      ...words('flows'),
      ...{ kind: 'choices', choices: choices('flows', ['authorization_code', 'client_credentials', 'password']) },
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
    { ...words('tokenFormat'), kind: 'choice', choices: choices('tokenFormat', ['opaque', 'jwt']), when: isOauth },
    {
      ...words('signing'),
      ...{ kind: 'choice', choices: choices('signing', ['ES256', 'RS256']) },
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
