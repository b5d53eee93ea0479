import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { member } from './tree.ts'

/** The member of an OpenAPI document that holds what the gateway needs to know. */
export const EXTENSION = 'x-svc-api-gateway'

/** The extension of a document, undefined when it has none or something else in its place. */
export function extensionOf(document: JsonObject): JsonObject | undefined {
  const extension = member(document, EXTENSION)
  return extension !== undefined && isObject(extension) ? extension : undefined
}

/**
 * Gives the extension our name where a document has it under a vendor's (`compat.vendor_aliases`), and writes down what its absence
 * means to that vendor: rules hold for every request whose path contains theirs.
 * Answers the word that the document used, so that answers can be written the same way (`restoreExtension`).
 * @throws Fault `definition_invalid` when a document has the extension under two names
 */
export function renameExtension(
  document: JsonObject,
  aliases: readonly string[],
): { document: JsonObject; alias: string | undefined } {
  const used = aliases.filter((alias) => alias !== 'svc' && member(document, `x-${alias}-api-gateway`) !== undefined)
  const alias = used[0]
  if (alias === undefined) return { document, alias }
  if (used.length > 1 || member(document, EXTENSION) !== undefined) {
    throw fault(
      'definition_invalid',
      `${[EXTENSION, ...used.map((word) => `x-${word}-api-gateway`)].join(', ')}: only one may be there`,
    )
  }
  return { document: withMatching(renamed(document, `x-${alias}-api-gateway`, EXTENSION)), alias }
}

/** The document with `server.pathMatching`, unless it says so itself. What is no object is left for the schema to refuse. */
function withMatching(document: JsonObject): JsonObject {
  const extension = extensionOf(document)
  const server = extension === undefined ? undefined : (member(extension, 'server') ?? {})
  if (server === undefined || server === null || !isObject(server) || member(server, 'pathMatching') !== undefined)
    return document
  return { ...document, [EXTENSION]: { ...extension, server: { ...server, pathMatching: 'contains' } } }
}

/** Gives the extension the vendor's name back; without an alias the document stays as it is. */
export function restoreExtension(document: JsonObject, alias: string | undefined): JsonObject {
  return alias === undefined ? document : renamed(document, EXTENSION, `x-${alias}-api-gateway`)
}

/** Keeps the order of members. */
function renamed(document: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name === from ? to : name, value]))
}
