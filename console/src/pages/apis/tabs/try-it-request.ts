import type { ApiSeen } from '../../../api/apis.ts'
import type { TrySent } from '../../../api/try-it.ts'
import type { FormValues } from '../../../parts/record-form.tsx'
import { textsOf } from '../../portal/pairs-input.tsx'
import { methodOf } from '../authentication.ts'
import { type Operation, operationsOf } from '../openapi-operations.ts'
import { textAt } from '../tree.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const CONFIG = { token: 'authToken', oauth: 'oauth' } as const
const WITHOUT_BODY: readonly unknown[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS']

/** True for a method that mostly comes with a body. */
export function hasBody(method: unknown): boolean {
  return !WITHOUT_BODY.includes(method)
}

/** The operations that can be tried; none of a classic API, which does not say. */
export function triedOperations({ isOas, definition }: ApiSeen): readonly Operation[] {
  return isOas ? operationsOf(definition).filter(({ method }) => METHODS.some((each) => each === method)) : []
}

/** Where callers send an operation: its path below that of the API. */
export function pathAt({ listenPath }: Pick<ApiSeen, 'listenPath'>, path: string): string {
  return `${listenPath.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

/** The part of a path that still stands in braces. */
export function openPart(path: string): string | undefined {
  return /\{([^{}/]*)\}/.exec(path)?.[1]
}

/** Which header an API reads its credential from, and what stands before it; undefined where it asks for none. */
export function credentialOf({ classic }: ApiSeen): { readonly header: string; readonly prefix: string } | undefined {
  const method = methodOf(classic)
  if (method === 'keyless' || method === 'other') return undefined
  const header =
    textAt(classic, ['auth_configs', CONFIG[method], 'auth_header_name']) ||
    textAt(classic, ['auth', 'auth_header_name'])
  return { header: header || 'Authorization', prefix: method === 'oauth' ? 'Bearer ' : '' }
}

/** The request that the form describes. */
export function requestOf(api: ApiSeen, values: FormValues): TrySent {
  const credential = credentialOf(api)
  const given = String(values.credential).trim()
  const headers = Object.entries(textsOf(values.headers)).map(([name, value]) => ({ name, value }))
  if (credential !== undefined && given !== '')
    headers.unshift({ name: credential.header, value: withPrefix(given, credential.prefix) })
  return {
    method: String(values.method),
    // Whatever a person types is meant literally; what is encoded already stays.
    path: encodeURI(String(values.path).trim()).replace(/%25([0-9A-Fa-f]{2})/g, '%$1'),
    headers,
    body: hasBody(values.method) ? String(values.body) : '',
  }
}

/** The same as a command for a shell, the credential left to be filled in. */
export function curlOf(origin: string, { method, path, headers, body }: TrySent, secret: string): string {
  const shown = headers.map(({ name, value }) => {
    const text = secret !== '' && value.endsWith(secret) ? `${value.slice(0, -secret.length)}<key>` : value
    return `-H ${quoted(`${name}: ${text}`)}`
  })
  const parts = [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(`${origin}${path}`)}`,
    ...shown,
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

function withPrefix(value: string, prefix: string): string {
  return prefix === '' || value.toLowerCase().startsWith(prefix.toLowerCase()) ? value : `${prefix}${value}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
