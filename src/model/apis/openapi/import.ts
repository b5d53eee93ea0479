import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { targetFlaws } from '../check/check-upstream.ts'
import { unruledPath } from '../check/path-flaws.ts'
import { checkBounds, flawsOf, refuseFlaws } from '../check/validate.ts'
import { nameOperations, type Operation, operationsOf } from '../convert/convert-operations.ts'
import { EXTENSION, extensionOf, isEmpty, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { copyTree, getAt, member, putAt, setMember } from '../definition/tree.ts'
import { describedAt, follow } from './described.ts'

/** The options of an import for the extension. Absent means "not given". */
export interface ImportOptions {
  readonly upstreamURL?: string
  readonly listenPath?: string
  readonly customDomain?: string
  readonly apiID?: string
  /** Turns on the schemes of the document's first security requirement, or turns authentication off. */
  readonly authentication?: boolean
  /** Lets in only the operations of the document, or ends that. */
  readonly allowList?: boolean
  /** Checks requests of operations that are described with parameters or a body, or ends that. */
  readonly validateRequest?: boolean
  /** Answers operations that are described with answers from their examples, or ends that. */
  readonly mockResponse?: boolean
}

/**
 * Makes an API of a plain OpenAPI document: active, listen path stripped, traffic recorded, named by its title.
 * Ids other than a given `apiID` are left to `fillIds`. The document itself stays as it is.
 * @throws Fault `definition_invalid` when it has the extension already, names no absolute upstream, or is no OpenAPI document
 */
export function importOas(plain: JsonObject, options: ImportOptions = {}): JsonObject {
  const document = checkedPlain(plain)
  const url = options.upstreamURL ?? serverUrl(document)
  const title = textOf(objectOf(document, 'info'), 'title')
  document[EXTENSION] = {
    info: { name: title, state: { active: true, internal: false } },
    upstream: { url },
    server: { listenPath: { value: '/', strip: true } },
    middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
  }
  return apply(document, { ...options, upstreamURL: url })
}

/**
 * Replaces a stored OpenAPI document: its extension stays, and settings of an operation stay with
 * the operation of that id, else with the one of that method and path. Settings without either are removed.
 * @throws Fault `definition_invalid` as `importOas`
 */
export function patchOas(stored: JsonObject, plain: JsonObject, options: ImportOptions = {}): JsonObject {
  const document = checkedPlain(plain)
  const extension = extensionOf(stored)
  if (extension === undefined) throw fault('definition_invalid', `${EXTENSION}: is missing in the stored document`)
  document[EXTENSION] = copyTree(extension)
  keepOperations(stored, document)
  return apply(document, options)
}

/**
 * The document as others may read it: a copy that for `public` leaves out the extension and the names that an import gave to operations,
 * else the document itself.
 */
export function exportOas(document: JsonObject, options: { readonly mode?: 'public' | undefined } = {}): JsonObject {
  if (options.mode !== 'public') return document
  const copy = copyTree(document)
  delete copy[EXTENSION]
  for (const { object } of operationsOf(copy)) {
    if (member(object, GENERATED) !== true) continue
    delete object[GENERATED]
    delete object.operationId
  }
  return copy
}

/** A copy of a document in which the address that callers use comes first among the servers. */
export function withServer(document: JsonObject, url: string): JsonObject {
  const others = objectsOf(document, 'servers').filter((server) => textOf(server, 'url') !== url)
  return { ...document, servers: [{ url }, ...others] }
}

/**
 * Removes from a document that was read with `withServer` the address that the read added: the stored address stays, and does not become
 * the document's own by being sent back.
 */
export function withoutServer(sent: JsonObject, stored: JsonObject, url: string): JsonObject {
  const [first, ...others] = objectsOf(sent, 'servers')
  if (!isDeepStrictEqual(first, { url })) return sent
  const { servers: _shown, ...rest } = sent
  const before = objectsOf(stored, 'servers')
  const isUnchanged = isDeepStrictEqual(sent.servers, withServer(stored, url).servers)
  const own = before.filter((server) => textOf(server, 'url') === url)
  const servers = isUnchanged ? before : [...own, ...others]
  return servers.length === 0 && stored.servers === undefined ? rest : { ...sent, servers }
}

/** Marks an operation that an import named: the extension knows operations by their names. */
const GENERATED = 'x-svc-generated-id'

function checkedPlain(plain: JsonObject): JsonObject {
  if (member(plain, EXTENSION) !== undefined) {
    throw fault('definition_invalid', `${EXTENSION}: must not be in the document`)
  }
  checkBounds(plain)
  refuseFlaws(flawsOf('openapi', plain))
  return copyTree(plain)
}

/** The effect of an import option on operations. */
interface Section {
  readonly option: 'allowList' | 'validateRequest' | 'mockResponse'
  /** Of the extension's operations. */
  readonly name: string
  /** Its content where there was none before. */
  readonly first: JsonObject
  /** True for the operations that it can speak of. */
  readonly fits: (operation: Operation, document: JsonObject) => boolean
}

const SECTIONS: readonly Section[] = [
  { option: 'allowList', name: 'allow', first: {}, fits: () => true },
  {
    option: 'validateRequest',
    name: 'validateRequest',
    first: {},
    fits: ({ object, path }, document) =>
      [object.parameters, object.requestBody, getAt(document, ['paths', path, 'parameters'])].some(
        (part) => !isEmpty(part),
      ),
  },
  {
    option: 'mockResponse',
    name: 'mockResponse',
    first: { fromOASExamples: { enabled: true } },
    fits: canBeMocked,
  },
]

/** True for an operation with a response that has an example, or a schema that one is made from, or no content at all. */
function canBeMocked({ path, method }: Operation, document: JsonObject): boolean {
  const { object: responses, at } = describedAt(document, ['paths', path, method.toLowerCase(), 'responses'])
  return Object.keys(responses).some((code) => {
    if (follow(document, [...at, code]).value === undefined) return false
    const { object: response, at: responseAt } = describedAt(document, [...at, code])
    const types = Object.keys(objectOf(response, 'content'))
    if (types.length === 0) return true
    return types.some((type) => {
      const { object: media } = describedAt(document, [...responseAt, 'content', type])
      return ['example', 'examples', 'schema'].some((name) => !isEmpty(media[name]))
    })
  })
}

/** Address of the first server, its variables replaced by their defaults. @throws Fault `definition_invalid` */
function serverUrl(document: JsonObject): string {
  const server = objectsOf(document, 'servers')[0]
  if (server === undefined) throw fault('definition_invalid', 'servers: is missing, and no upstreamURL was given')
  const variables = objectOf(server, 'variables')
  const url = textOf(server, 'url').replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = member(member(variables, name), 'default')
    return typeof value === 'string' ? value : whole
  })
  if (!/^https?:\/\/[^/{}]/i.test(url) || /[{}]/.test(url)) {
    throw fault('definition_invalid', `servers[0].url: must be an absolute URL where no upstreamURL is given`)
  }
  return url
}

/** Writes what the options say into the extension, then checks it. */
function apply(document: JsonObject, options: ImportOptions): JsonObject {
  const { upstreamURL, listenPath, customDomain, apiID } = options
  const extension = objectOf(document, EXTENSION)
  if (upstreamURL !== undefined) putAt(extension, ['upstream', 'url'], upstreamURL)
  if (listenPath !== undefined) putAt(extension, ['server', 'listenPath', 'value'], listenPath)
  if (apiID !== undefined) putAt(extension, ['info', 'id'], apiID)
  if (customDomain !== undefined) {
    const known = objectOf(objectOf(extension, 'server'), 'customDomain')
    putAt(extension, ['server', 'customDomain'], { ...known, enabled: true, name: customDomain })
  }
  if (options.authentication !== undefined) setAuthentication(document, extension, options.authentication)
  for (const section of SECTIONS) {
    const on = options[section.option]
    if (on !== undefined) setSection(document, extension, section, on)
  }
  refuseFlaws([...targetFlaws('oas', extension), ...flawsOf('extension', extension, [EXTENSION])])
  return document
}

function setAuthentication(document: JsonObject, extension: JsonObject, on: boolean): void {
  const at = ['server', 'authentication']
  if (!on) {
    putAt(extension, [...at, 'enabled'], false)
    return
  }
  const group = objectsOf(document, 'security')[0]
  const names = group === undefined ? [] : Object.keys(group)
  if (names.length === 0)
    throw fault(
      'definition_invalid',
      `security: must name a scheme, because authentication was asked for${ofOperations(document)}`,
    )
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  for (const name of names) {
    if (!isObject(member(declared, name) ?? null)) {
      throw fault('definition_invalid', `security: "${name}" is not declared in components.securitySchemes`)
    }
    const known = objectOf(getAt(extension, [...at, 'securitySchemes']), name)
    putAt(extension, [...at, 'securitySchemes', name], { ...known, enabled: true })
  }
  putAt(extension, [...at, 'enabled'], true)
}

/** Advice for a document that leaves `security` to its operations, as many frameworks write it. */
function ofOperations(document: JsonObject): string {
  const [first] = operationsOf(document).filter(({ object }) => !isEmpty(object.security))
  if (first === undefined) return ''
  return `; ${first.method} ${first.path} names one for itself, but a scheme is that of the whole API: write it at the top of the document too, and open operations by "ignoreAuthentication"`
}

function setSection(document: JsonObject, extension: JsonObject, section: Section, on: boolean): void {
  if (on) {
    const unnamed = operationsOf(document).filter(({ id }) => id === '')
    nameOperations(document)
    for (const { object } of unnamed) object[GENERATED] = true
  }
  for (const operation of operationsOf(document)) {
    const { id } = operation
    const at = ['middleware', 'operations', id, section.name]
    const known = getAt(extension, at)
    // No request has such a path: a rule for it is refused elsewhere, and warned of here.
    const skipped = on
      ? !section.fits(operation, document) || unruledPath(operation.path) !== undefined
      : known === undefined
    if (id === '' || skipped) continue
    const held = objectOf(getAt(extension, at.slice(0, -1)), section.name)
    putAt(extension, at, { ...(known === undefined ? section.first : {}), ...held, enabled: on })
  }
}

/** Moves what the extension says about operations to their ids in the new document. */
function keepOperations(stored: JsonObject, document: JsonObject): void {
  const held = getAt(document, [EXTENSION, 'middleware', 'operations'])
  if (held === undefined || !isObject(held)) return
  const before = new Map(
    operationsOf(stored).map((operation) => [operation.id, `${operation.method} ${operation.path}`]),
  )
  const after = operationsOf(document)
  const ids = new Set(after.map((operation) => operation.id))
  const moved: JsonObject = {}
  for (const id of Object.keys(held)) {
    if (ids.has(id)) setMember(moved, id, held[id]!)
  }
  for (const id of Object.keys(held)) {
    if (ids.has(id)) continue
    const heir = after.find((operation) => `${operation.method} ${operation.path}` === before.get(id))
    if (heir === undefined) continue
    const name = heir.id || id // an operation that lost its name gets the old one back
    if (heir.id === '') {
      heir.object.operationId = id
      heir.object[GENERATED] = true
    }
    if (member(moved, name) === undefined) setMember(moved, name, held[id]!)
  }
  putAt(document, [EXTENSION, 'middleware', 'operations'], moved)
}
