import type { ApiView } from '../../../api/apis/apis.ts'
import type { TrySent } from '../../../api/apis/try-it.ts'
import type { FormValues } from '../../../parts/forms/record-form.tsx'
import { textsOf } from '../../developers/pairs-input.tsx'
import { methodOf, placeOf } from '../authentication/authentication-methods.ts'
import { schemeForm } from '../authentication/schemes.ts'
import { textAt } from '../editor/tree.ts'
import { type Operation, operationsOf } from '../openapi/openapi-operations.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const WITHOUT_BODY: readonly unknown[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS']

/** True for a method that mostly comes with a body. */
export function hasBody(method: unknown): boolean {
  return !WITHOUT_BODY.includes(method)
}

/** The operations that can be tried; none of a classic API, which does not say. */
export function triedOperations({ isOas, definition }: ApiView): readonly Operation[] {
  return isOas ? operationsOf(definition).filter(({ method }) => METHODS.some((each) => each === method)) : []
}

/** Where callers send an operation: its path below that of the API. */
export function pathAt({ listenPath }: Pick<ApiView, 'listenPath'>, path: string): string {
  return `${listenPath.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}

/** A placeholder in a path that has no value yet. */
export function openPart(path: string): string | undefined {
  return /\{([^{}/]*)\}/.exec(path)?.[1]
}

/** Where an API reads its credential. */
export interface CredentialPlace {
  readonly where: 'header' | 'query' | 'cookie'
  readonly name: string
  /** The text before it. */
  readonly prefix: string
  /** A name and a password with a colon between them: they are sent in base64 (RFC 7617). */
  readonly isLogin: boolean
}

/** Where an API reads its credential, a header before other places; undefined where it asks for none, or for more than one word. */
export function credentialOf({ classic }: ApiView): CredentialPlace | undefined {
  const method = methodOf(classic)
  if (method === 'keyless' || method === 'other' || method === 'several') return undefined
  const { sent } = schemeForm(method)
  if (sent === undefined) return undefined
  const config = placeOf(classic, method)
  const { prefix, isLogin = false } = sent
  // A token needs its word in a header alone.
  const elsewhere = isLogin ? prefix : ''
  if (config.disable_header === true) {
    if (config.use_param === true)
      return { where: 'query', name: textAt(config, ['param_name']), prefix: elsewhere, isLogin }
    if (config.use_cookie === true)
      return { where: 'cookie', name: textAt(config, ['cookie_name']), prefix: elsewhere, isLogin }
  }
  return { where: 'header', name: textAt(config, ['auth_header_name']) || 'Authorization', prefix, isLogin }
}

/** The credential of the form as it is sent, without its prefix: what a command must not show. */
export function secretOf(api: ApiView, { credential }: FormValues): string {
  const given = String(credential).trim()
  const place = credentialOf(api)
  if (place?.isLogin !== true || !given.includes(':')) return given
  return btoa(String.fromCharCode(...new TextEncoder().encode(given)))
}

/** The request that the form describes. */
export function requestOf(api: ApiView, values: FormValues): TrySent {
  const credential = credentialOf(api)
  const given = secretOf(api, values)
  const headers = Object.entries(textsOf(values.headers)).map(([name, value]) => ({ name, value }))
  // Typed text is literal; escapes that are present stay.
  let path = encodeURI(String(values.path).trim()).replace(/%25([0-9A-Fa-f]{2})/g, '%$1')
  if (credential !== undefined && given !== '') {
    const { where, name, prefix } = credential
    const sent = withPrefix(given, prefix)
    if (where === 'header') headers.unshift({ name, value: sent })
    else if (where === 'cookie') headers.unshift({ name: 'Cookie', value: `${name}=${sent}` })
    else path += `${path.includes('?') ? '&' : '?'}${encodeURIComponent(name)}=${encodeURIComponent(sent)}`
  }
  return {
    method: String(values.method),
    path,
    headers,
    body: hasBody(values.method) ? String(values.body) : '',
  }
}

/** The same as a command for a shell, the credential left to be filled in. */
export function curlOf(origin: string, { method, path, headers, body }: TrySent, secret: string): string {
  const hidden = (text: string) =>
    [secret, encodeURIComponent(secret)].reduce(
      (rest, word) => (word !== '' && rest.endsWith(word) ? `${rest.slice(0, -word.length)}<key>` : rest),
      text,
    )
  const shown = headers.map(({ name, value }) => `-H ${quoted(`${name}: ${hidden(value)}`)}`)
  const parts = [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(`${origin}${hidden(path)}`)}`,
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
