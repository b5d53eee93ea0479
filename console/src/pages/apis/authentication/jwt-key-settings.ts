import type { Definition } from '../../../api/apis/apis.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { isObject, textAt, written } from '../editor/tree.ts'
import { DURATION } from '../settings/codec.ts'
import type { SettingGroup, SettingsRoot, Shapes } from './scheme-setting.ts'

/** Addresses of key sets, one an entry, perhaps with the seconds for which the keys are good: `https://id.example/keys 300`. */
const KEY_SETS: Shapes = {
  read: (written) =>
    (Array.isArray(written) ? written.filter(isObject) : []).map(({ url, cache_timeout: seconds }) =>
      typeof seconds === 'number' && seconds > 0 ? `${url} ${seconds}` : String(url ?? ''),
    ),
  toClassic: (value) => setsIn(value).map(([url, s]) => ({ url, ...(s > 0 && { cache_timeout: s }) })),
  toOas: (value) => setsIn(value).map(([url, s]) => ({ url, ...(s > 0 && { cacheTimeout: DURATION.write(s)! }) })),
}

function setsIn(value: FormValue): (readonly [url: string, seconds: number])[] {
  return (Array.isArray(value) ? value : []).map((each) => {
    const [url = '', seconds] = String(each).trim().split(/\s+/)
    return [url, Number(seconds) || 0] as const
  })
}

/** Fields of the verification key of a JWT; each type of key has a separate field for the same member. */
const KEY_FIELDS = ['jwtKeys', 'jwtSets', 'jwtKey', 'jwtFamily', 'jwtSecret'] as const
const KEY_MEMBERS = {
  oas: { source: ['source'], sets: ['jwksURIs'], family: ['signingMethod'] },
  classic: { source: ['jwt_source'], sets: ['jwt_jwks_uris'], family: ['jwt_signing_method'] },
} as const

function keyValues(classic: Definition): FormValues {
  const source = textAt(classic, ['jwt_source'])
  const family = textAt(classic, ['jwt_signing_method'])
  const listed = KEY_SETS.read(classic.jwt_jwks_uris) as readonly string[]
  const isAddress = /^https?:\/\//i.test(source)
  const hasSets = listed.length > 0 || isAddress || source === ''
  const kind = hasSets ? 'sets' : family === 'hmac' ? 'secret' : 'key'
  return {
    jwtKeys: kind,
    jwtSets: listed.length > 0 || !isAddress ? listed : [source],
    jwtKey: kind === 'key' ? source : '',
    jwtFamily: family === 'hmac' ? '' : family,
    jwtSecret: kind === 'secret' ? source : '',
  }
}

function withKey(tree: Definition, root: SettingsRoot, before: FormValues, values: FormValues): Definition {
  if (KEY_FIELDS.every((name) => JSON.stringify(values[name]) === JSON.stringify(before[name]))) return tree
  const base = root === 'classic' ? [] : root
  const { source, sets, family } = KEY_MEMBERS[root === 'classic' ? 'classic' : 'oas']
  const kind = values.jwtKeys
  const key = String(values[kind === 'secret' ? 'jwtSecret' : 'jwtKey'] ?? '').trim()
  const addresses = KEY_SETS[root === 'classic' ? 'toClassic' : 'toOas'](values.jwtSets ?? [])
  const word = kind === 'secret' ? 'hmac' : String(values.jwtFamily ?? '')
  let next = written(tree, [...base, ...source], kind === 'sets' ? undefined : key)
  next = written(next, [...base, ...sets], kind === 'sets' ? addresses : undefined)
  return written(next, [...base, ...family], word === '' ? undefined : word)
}

function keyPlaces(
  root: SettingsRoot,
  { jwtKeys }: FormValues,
): (readonly [field: string, place: readonly string[]])[] {
  const base = root === 'classic' ? [] : root
  const { source, sets, family } = KEY_MEMBERS[root === 'classic' ? 'classic' : 'oas']
  const field = jwtKeys === 'sets' ? 'jwtSets' : jwtKeys === 'secret' ? 'jwtSecret' : 'jwtKey'
  return [
    [field, [...base, ...source]],
    [field, [...base, ...sets]],
    [field === 'jwtKey' || field === 'jwtSets' ? 'jwtFamily' : field, [...base, ...family]],
  ]
}

/** The key that signatures of JSON Web Tokens are checked with: one of several kinds, in the same members. */
export const JWT_KEY: SettingGroup = { values: keyValues, write: withKey, places: keyPlaces }
