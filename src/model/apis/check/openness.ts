import { nearest } from '../../../errors/suggest.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import { EXTENSION, extensionOf, flagOf, objectOf } from '../definition/members.ts'
import { type Flaw, member } from '../definition/tree.ts'
import { schemaNames } from '../schema/schema.ts'
import { EXTENSION_SCHEMA } from '../schema/schema-oas.ts'
import { asks } from './unknown-members.ts'

const AT = [EXTENSION, 'server', 'authentication', 'enabled']

/**
 * Refuses what would open an API whose document asks for a credential: the switch of `server.authentication` must be written, true or
 * false, and a misspelt member does not replace it.
 */
export function opennessFlaws(document: JsonObject): Flaw[] {
  const server = objectOf(extensionOf(document), 'server')
  const authentication = objectOf(server, 'authentication')
  if (typeof member(authentication, 'enabled') === 'boolean') return []
  const typo = member(server, 'authentication') === undefined ? misspelt(server) : undefined
  if (typo !== undefined)
    return [
      {
        at: [EXTENSION, 'server', typo],
        reason: 'did you mean "authentication"? Without it the API is open to everybody',
      },
    ]
  const reason = asker(document, authentication)
  return reason === undefined
    ? []
    : [
        {
          at: AT,
          reason: `must be written, true or false: ${reason} asks for a credential, and without it the API is open (an import writes it: authentication=true or false)`,
        },
      ]
}

/** Says that an API is open although its document asks for a credential. */
export function opennessWarnings(document: JsonObject): Flaw[] {
  const authentication = objectOf(objectOf(extensionOf(document), 'server'), 'authentication')
  if (flagOf(authentication, 'enabled')) return []
  const reason = asker(document, authentication)
  return reason === undefined
    ? []
    : [{ at: AT, reason: `is not true, so the API is open although ${reason} asks for a credential` }]
}

/** The part of a document that asks for a credential; undefined = none does. */
function asker(document: JsonObject, authentication: JsonObject): string | undefined {
  if (isNeeded(member(document, 'security'))) return '`security` of the document'
  const operation = operationsOf(document).find(({ object }) => isNeeded(member(object, 'security')))
  if (operation !== undefined) return `\`security\` of ${operation.method} ${operation.path}`
  const schemes = objectOf(authentication, 'securitySchemes')
  const scheme = Object.keys(schemes).find((name) => flagOf(schemes[name], 'enabled'))
  return scheme === undefined ? undefined : `the scheme ${JSON.stringify(scheme)}`
}

/** True for requirements that no request without a credential meets. */
function isNeeded(security: Json | undefined): boolean {
  return (
    Array.isArray(security) &&
    security.length > 0 &&
    security.every((each) => isObject(each) && Object.keys(each).length > 0)
  )
}

function misspelt(server: JsonObject): string | undefined {
  const known = schemaNames(EXTENSION_SCHEMA, 'server')
  return Object.keys(server).find(
    (name) =>
      !known.includes(name) &&
      isObject(server[name] ?? null) &&
      asks(server[name]!) &&
      nearest(name, known) === 'authentication',
  )
}
