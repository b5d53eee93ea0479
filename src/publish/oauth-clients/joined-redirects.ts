import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'

interface Parts {
  readonly config: { readonly dashboard: { readonly oauth_redirect_uri_separator: string } }
}

/** A body whose `redirect_uri` may hold several addresses in one text, where `oauth_redirect_uri_separator` is set. */
export function withRedirects({ config }: Parts, body: JsonObject): JsonObject {
  const separator = config.dashboard.oauth_redirect_uri_separator
  const { redirect_uri: joined, ...more } = body
  if (separator === '' || typeof joined !== 'string' || !joined.includes(separator)) return body
  const uris = joined.split(separator).map((uri) => uri.trim())
  return { ...more, redirect_uri: uris.filter((uri) => uri !== '') }
}

/** The addresses of a client as `redirect_uri` shows them: the first one, or all in one text. */
export function redirectTextOf({ config }: Parts, { redirect_uris: uris }: OAuthClient): string {
  const separator = config.dashboard.oauth_redirect_uri_separator
  return separator === '' ? (uris[0] ?? '') : uris.join(separator)
}
