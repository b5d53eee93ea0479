import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { sealUnlessSame, unseal } from '../../model/secrets/secret.ts'
import type { SecretParts } from '../documents/parts.ts'

/** Members of a profile whose text is a secret. */
const SECRET = /secret$|password$|credential$|privatekey$/i
/** Names of these are chosen by others, and no secrets. */
const NOT_LOOKED_INTO: ReadonlySet<string> = new Set(['UserGroupMapping'])

/** Sealed secrets by their path in the profile. */
export type SealedSecrets = { [path: string]: string }

interface Found {
  readonly path: string
  readonly text: string
}

/** A copy of a profile in which every secret reads '', and the secrets. */
export function takeSecrets(profile: JsonObject): { readonly blank: JsonObject; readonly secrets: readonly Found[] } {
  const secrets: Found[] = []
  const walk = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((entry, i) => walk(entry, `${path}/${nameOf(entry, i)}`))
    if (!isObject(value)) return value
    const copy: JsonObject = {}
    for (const [name, member] of Object.entries(value)) {
      const at = `${path}/${name}`
      if (NOT_LOOKED_INTO.has(name)) copy[name] = member
      else if (typeof member === 'string' && SECRET.test(name)) {
        secrets.push({ path: at, text: member })
        copy[name] = ''
      } else copy[name] = walk(member, at)
    }
    return copy
  }
  const blank = walk(profile, '') as JsonObject
  return { blank, secrets }
}

/**
 * The stored form of the secrets of a profile. One that is sent blank stays as it was, unless it would then be sent to another address than
 * before: permission to change the profile does not imply knowing the secret. @throws Fault `profile_invalid` (400)
 */
export function sealSecrets(
  { sealKey }: Pick<SecretParts, 'sealKey'>,
  documentId: string,
  secrets: readonly Found[],
  before: { readonly sealed: SealedSecrets; readonly moved: (path: string) => boolean },
): SealedSecrets {
  const kept: SealedSecrets = {}
  for (const { path, text } of secrets) {
    const old = Object.hasOwn(before.sealed, path) ? before.sealed[path] : undefined
    if (text !== '') kept[path] = sealUnlessSame(sealKey, text, contextOf(documentId, path), old)
    else if (old !== undefined && before.moved(path))
      throw fault('profile_invalid', `${path.slice(1).replaceAll('/', '.')}: give it again, the address has changed`)
    else if (old !== undefined) kept[path] = old
  }
  return kept
}

/** The profile with its secrets in clear, to sign in with. @throws Fault `seal_broken` */
export function withSecrets(
  { sealKey }: Pick<SecretParts, 'sealKey'>,
  documentId: string,
  profile: JsonObject,
  sealed: SealedSecrets,
): JsonObject {
  const walk = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((entry, i) => walk(entry, `${path}/${nameOf(entry, i)}`))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const at = `${path}/${name}`
        const text = Object.hasOwn(sealed, at) ? sealed[at] : undefined
        if (text === undefined) return [name, NOT_LOOKED_INTO.has(name) ? member : walk(member, at)]
        return [name, unseal(sealKey, Buffer.from(text, 'base64'), contextOf(documentId, at)).toString('utf8')]
      }),
    )
  }
  return walk(profile, '') as JsonObject
}

const contextOf = (documentId: string, path: string) => `idp_profile:${documentId}:${path}`

/** Entries are known by their names, so that a list may change its order. */
function nameOf(entry: Json, index: number): string {
  return isObject(entry) && typeof entry.Name === 'string' ? entry.Name : String(index)
}
