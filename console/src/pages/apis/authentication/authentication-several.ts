import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { EXTENSION, isObject, textAt, textsAt, withAt, written } from '../editor/tree.ts'
import {
  AUTHENTICATION,
  identityOf,
  isSection,
  proofOfIdentity,
  proofsIn,
  proofsOf,
  schemeOf,
  wordOf,
} from './authentication-methods.ts'
import { PROOFS, type Proof, schemeForm } from './schemes.ts'

const JOIN = ' + '

/** The word for a way in a set. */
export const setWord = (proof: Proof): string => schemeForm(proof).word

/** The flaw of a set: a word that names none of the chosen schemes; undefined = none. */
export function unknownWordIn(set: string, proofs: readonly Proof[]): string | undefined {
  const words = proofs.map(setWord)
  return wordsIn(set).find((word) => !words.includes(word))
}

/** The first of the chosen ways that no set names; undefined = all are named. */
export function unnamedIn(sets: readonly string[], proofs: readonly Proof[]): Proof | undefined {
  const named = sets.flatMap(wordsIn)
  return proofs.find((proof) => !named.includes(setWord(proof)))
}

function wordsIn(set: string): string[] {
  return set
    .split('+')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
}

/** The form values of an API with several schemes: which ones, whether all are needed, and whose rights count. */
export function severalValues(classic: Definition): FormValues {
  const proofs = proofsOf(classic)
  const words = new Map(proofs.map((proof) => [wordOf(classic, proof), setWord(proof)]))
  const listed = Array.isArray(classic.security_requirements) ? classic.security_requirements : []
  const sets = listed.map((group) => textsAt({ group }, ['group']).map((word) => words.get(word) ?? word))
  return {
    methods: proofs,
    mode: classic.security_processing_mode === 'compliant' ? 'one' : 'all',
    sets: sets.filter((set) => set.length > 0).map((set) => set.join(JOIN)),
    identity: proofOfIdentity(textAt(classic, ['base_identity_provided_by'])) ?? '',
  }
}

/** The groups of ways that the form asks for: one of all, or one for each set. */
function groupsIn(values: FormValues): readonly (readonly Proof[])[] {
  const proofs = proofsIn(values)
  if (!isChoice(values)) return [proofs]
  const sets = listed(values.sets)
  if (sets.length === 0) return proofs.map((proof) => [proof])
  return sets.map((set) => wordsIn(set).flatMap((word) => PROOFS.find((proof) => setWord(proof) === word) ?? []))
}

const isChoice = ({ method, mode }: FormValues) => method === 'several' && mode === 'one'
const listed = (value: FormValue | undefined): readonly string[] => (Array.isArray(value) ? value : [])

function identityIn({ method, identity }: FormValues): string | undefined {
  const proof = PROOFS.find((each) => each === identity)
  return method === 'several' && proof !== undefined ? identityOf(proof) : undefined
}

/** The classic definition with what it asks of callers together, or lets them choose from. */
export function askingInClassic(classic: Definition, values: FormValues): Definition {
  const groups = groupsIn(values).map((group) => group.map((proof) => wordOf(classic, proof)))
  let next = written(classic, ['base_identity_provided_by'], identityIn(values))
  next = written(next, ['security_processing_mode'], isChoice(values) ? 'compliant' : undefined)
  return written(next, ['security_requirements'], isChoice(values) ? groups : undefined)
}

/** The document with the same: what OpenAPI cannot express goes into the extension. */
export function askingInOpenapi(document: Definition, values: FormValues): Definition {
  const groups = groupsIn(values)
  const open = isChoice(values)
    ? groups.filter((group) => !group.some(isSection))
    : groups.map((group) => group.filter((proof) => !isSection(proof)))
  const rest = isChoice(values) ? groups.filter((group) => group.some(isSection)) : []
  const names = (group: readonly Proof[]) => group.map((proof) => schemeOf(document, proof))
  let next = askFor(document, open.filter((group) => group.length > 0).map(names))
  next = written(next, [...AUTHENTICATION, 'security'], rest.length > 0 ? rest.map(names) : undefined)
  next = written(next, [...AUTHENTICATION, 'baseIdentityProvider'], identityIn(values))
  return written(next, [...AUTHENTICATION, 'securityProcessingMode'], isChoice(values) ? 'compliant' : undefined)
}

/** `security` asks for these groups; one that it has already stays as it is, with its scopes. */
function askFor(document: Definition, groups: readonly (readonly string[])[]): Definition {
  const before = Array.isArray(document.security) ? document.security.filter(isObject) : []
  const scopesOf = (name: string): Json => before.map((group) => group[name]).find(Array.isArray) ?? []
  const security = groups.map((group) => {
    const known = before.find(
      (each) => Object.keys(each).length === group.length && group.every((name) => Object.hasOwn(each, name)),
    )
    return known ?? Object.fromEntries(group.map((name) => [name, scopesOf(name)]))
  })
  if (security.length === 0) return written(document, ['security'], undefined)
  return withAt(document, ['security'], security)
}

/** Fields with the places of what they say, in each format. */
export function severalPlaces(isOas: boolean): (readonly [field: string, place: readonly string[]])[] {
  if (!isOas)
    return [
      ['identity', ['base_identity_provided_by']],
      ['sets', ['security_requirements']],
    ]
  return [
    ['identity', [...AUTHENTICATION, 'baseIdentityProvider']],
    ['sets', ['security']],
    ['sets', [EXTENSION, 'server', 'authentication', 'security']],
    ['mode', [...AUTHENTICATION, 'securityProcessingMode']],
  ]
}
