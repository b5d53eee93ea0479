import { getAt, type TreePath } from '../../model/apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { secretsOf } from '../../model/secrets/secret-places.ts'

/** Where a session says what its caller signs with. */
const OF_SESSION: readonly TreePath[] = [['hmac_string'], ['jwt_data', 'secret']]
/** The session that the tokens of a grant are to have. */
const OF_TICKET = OF_SESSION.map((path) => ['key_rules', ...path])
/** Names in definitions, of both formats, whose text both sides hold. */
const SHARED: ReadonlySet<string> = new Set(['shared_secret', 'sharedSecret', 'secret'])

/** The places of a session's secrets: texts that are not empty. */
export function sessionPlaces(session: JsonObject): readonly TreePath[] {
  return OF_SESSION.filter((path) => isText(getAt(session, path)))
}

/** The same of a ticket of the authorization server. */
export function ticketPlaces(ticket: JsonObject): readonly TreePath[] {
  return OF_TICKET.filter((path) => isText(getAt(ticket, path)))
}

/**
 * Where a document that holds definitions of APIs, of either format, has secrets: those of the table, besides all that is called a
 * secret and the keys of tokens that are no addresses, whether both sides hold the same or not. A place may be named twice.
 */
export function definitionPlaces(document: JsonObject): readonly TreePath[] {
  const found: TreePath[] = []
  const path: string[] = []
  const walk = (value: Json) => {
    if (typeof value === 'string') {
      if (value !== '' && isSecret(value, path, document)) found.push([...path])
    } else if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) step(String(index), value[index]!)
    else if (isObject(value)) for (const name of Object.keys(value)) step(name, value[name]!)
  }
  const step = (name: string, value: Json) => {
    path.push(name)
    walk(value)
    path.pop()
  }
  walk(document)
  return [...found, ...secretsOf(document).map(({ path }) => path.map(String))]
}

/** Where any other document has secrets, by the table. What a kind seals itself is `sealed` there, and stays. */
export function documentPlaces(document: JsonObject): readonly TreePath[] {
  return secretsOf(document)
    .map(({ path }) => path.map(String))
    .filter((path) => !path.includes('sealed'))
}

/** The same below these members alone: the others are looked up by, or are hashes. */
export function placesBelow(...members: readonly string[]): (document: JsonObject) => readonly TreePath[] {
  return (document) => {
    const held = members.filter((name) => document[name] !== undefined).map((name) => [name, document[name]!])
    return held.length === 0 ? [] : documentPlaces(Object.fromEntries(held) as JsonObject)
  }
}

function isSecret(text: string, path: TreePath, document: JsonObject): boolean {
  const name = path.at(-1)!
  const pointer = path.at(-2) ?? ''
  // A converted document stores members of the other format under pointers to their places (`convert.ts`).
  const meant = pointer.startsWith('/') ? pointer.slice(pointer.lastIndexOf('/') + 1) : name
  if (SHARED.has(meant)) return true
  const isKey =
    meant === 'jwt_source' ||
    (meant === 'source' &&
      (name !== meant ||
        path.includes('providers') ||
        getAt(document, [...path.slice(0, -1), 'signingMethod']) !== undefined))
  return isKey && !/^https?:/i.test(text)
}

const isText = (value: Json | undefined) => typeof value === 'string' && value !== ''
