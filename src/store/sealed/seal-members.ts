import { copyTree, fromPointer, getAt, putAt, type TreePath, toPointer } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'

/** Member of a stored body that holds, sealed, the texts that were taken out of it. Nobody writes it from outside. */
const SEALED = 'sealed_members'

/** The stored form of a body: the texts at `places` are removed, and sealed separately. `context` is its row. */
export function sealMembers(
  body: JsonObject,
  places: (body: JsonObject) => readonly TreePath[],
  { sealKey, context }: { readonly sealKey: SealKey; readonly context: string },
): JsonObject {
  const found = places(body)
  if (found.length === 0 && !Object.hasOwn(body, SEALED)) return body
  const { [SEALED]: _theirs, ...stored } = copyTree(body)
  if (found.length === 0) return stored
  const texts: Record<string, string> = {}
  for (const path of found) {
    texts[toPointer(path)] = getAt(stored, path) as string
    putAt(stored, path, '')
  }
  stored[SEALED] = seal(sealKey, JSON.stringify(texts), `members:${context}`).toString('base64')
  return stored
}

/** The stored body without its secrets. */
export function withoutSealed(stored: JsonObject): JsonObject {
  const { [SEALED]: _sealed, ...body } = stored
  return body
}

/** The body that was stored so; the same object where nothing of it is sealed. @throws Fault `seal_broken` */
export function unsealMembers(
  stored: JsonObject,
  { sealKey, context }: { readonly sealKey: SealKey; readonly context: string },
): JsonObject {
  const sealed = stored[SEALED]
  if (typeof sealed !== 'string') return stored
  const { [SEALED]: _sealed, ...body } = copyTree(stored)
  const text = unseal(sealKey, Buffer.from(sealed, 'base64'), `members:${context}`).toString('utf8')
  for (const [pointer, secret] of Object.entries(JSON.parse(text) as Record<string, string>))
    putAt(body, fromPointer(pointer)!, secret)
  return body
}
