import type { Api } from '../../model/apis/definition/api.ts'
import { isSecretPart, type SecretNames } from '../../model/secrets/redact-traffic.ts'
import type { Exchange } from '../server/exchange.ts'
import type { FieldPairs, RequestView } from './messages.ts'

/** Lower-case names that an API reads credentials from, by all its schemes, enabled or not. */
export function credentialNames({ auth }: Api): SecretNames {
  if (auth === undefined) return NONE
  const { header = '', query = '', cookie = '', stripHeaders, stripQueries, stripCookies } = auth
  const cookies = stripCookies.map((name) => name.replace(/=$/, ''))
  return new Set(
    [header, query, cookie, ...stripHeaders, ...stripQueries, ...cookies].map((name) => name.toLowerCase()),
  )
}

const NONE: SecretNames = new Set()

/** Judges the name of a field, cookie or parameter by those that the API reads credentials from. */
type IsHidden = (name: string, names: SecretNames) => boolean

/** Fields without credentials: neither those that the API reads nor what their names say are some, cookies one by one. */
export function openFields(fields: FieldPairs, names: SecretNames, isHidden: IsHidden = isSecretPart): FieldPairs {
  return fields.flatMap(([name, value]): FieldPairs => {
    if (name.toLowerCase() !== 'cookie') return isHidden(name, names) ? [] : [[name, value]]
    const cookies = value.split(';').filter((pair) => !isHidden(nameOf(pair).trim(), names))
    return cookies.length === 0 ? [] : [[name, cookies.join(';').trim()]]
  })
}

/** The parameters that modules may see, and those that they may not. */
export function splitQuery(
  query: string,
  names: SecretNames,
  isSecret: IsHidden = isSecretPart,
): { readonly open: string; readonly hidden: string } {
  const pairs = query === '' ? [] : query.split('&')
  const isHidden = (pair: string) => isSecret(decoded(nameOf(pair)), names)
  return {
    open: pairs.filter((pair) => !isHidden(pair)).join('&'),
    hidden: pairs.filter(isHidden).join('&'),
  }
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? pair : pair.slice(0, equals)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** A copy with separate memory: transferring a slice would transfer the whole buffer. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

/** The request for modules: `path`, `query`, `fields` and `body` in their present state. */
export function requestView(x: Exchange, at: Pick<RequestView, 'path' | 'query' | 'fields' | 'body'>): RequestView {
  const { session, chain } = x
  return {
    ...at,
    api: { id: chain!.api.apiId, name: chain!.api.name },
    method: x.method,
    clientAddress: x.clientAddress,
    requestId: x.requestId,
    session: session && {
      keyHash: session.keyHash,
      alias: session.alias,
      clientId: session.clientId,
      policyIds: [...session.policyIds],
      expiresAt: session.expiresAt,
      metaData: session.metaData,
    },
    context: x.moduleContext ?? {},
  }
}
