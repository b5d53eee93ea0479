import type { Json } from '../../model/json/json.ts'
import type { VariablePiece } from '../../model/patterns/variables.ts'
import { credentialNames, openFields, splitQuery } from '../modules/views.ts'
import { queryValues } from '../steps/authentication/read-credential.ts'
import type { Exchange } from './exchange.ts'

/**
 * The value of a variable for a request, '' where there is none: credentials are none, and without context variables of the API
 * (`enable_context_vars`) nothing of the request is.
 */
export function variableText(x: Exchange, piece: Exclude<VariablePiece, string>): string {
  if ('meta' in piece) return metaText(x, piece.meta)
  return x.chain!.api.contextVariables ? contextText(x, piece.context) : ''
}

/** A member of the session's metadata that can be written as one text. */
export function metaText(x: Exchange, name: string): string {
  const meta = x.session?.metaData
  const value: Json | undefined = meta !== undefined && Object.hasOwn(meta, name) ? meta[name] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

function contextText(x: Exchange, name: string): string {
  if (name === 'method') return x.method
  if (name === 'path') return x.path
  if (name === 'path_parts')
    return x.path
      .split('/')
      .filter((part) => part !== '')
      .join(',')
  if (name === 'remote_addr') return x.clientAddress
  if (name === 'request_id') return x.requestId
  const [, place, own] = /^(headers|request_data|cookies)_(.+)$/.exec(name)!
  const names = credentialNames(x.chain!.api)
  if (place === 'request_data') return queryValues(splitQuery(x.query, names).open, own!)[0] ?? ''
  const fields = openFields(x.request.entries(), names)
  if (place === 'cookies') return cookieIn(fields, own!)
  const wanted = own!.replaceAll('-', '_').toLowerCase()
  return fields
    .filter(([field]) => field.replaceAll('-', '_').toLowerCase() === wanted)
    .map(([, value]) => value)
    .join(', ')
}

function cookieIn(fields: readonly (readonly [string, string])[], name: string): string {
  for (const [field, value] of fields) {
    if (field.toLowerCase() !== 'cookie') continue
    const pair = value.split(';').find((each) => each.trim().startsWith(`${name}=`))
    if (pair !== undefined) return pair.trim().slice(name.length + 1)
  }
  return ''
}
