import { BASIC_SCHEME } from './basic-scheme.ts'
import { EXTERNAL_SCHEME } from './external-scheme.ts'
import { HMAC_SCHEME } from './hmac-scheme.ts'
import { JWT_SCHEME } from './jwt-scheme.ts'
import { OAUTH_SCHEME } from './oauth-scheme.ts'
import type { Scheme } from './scheme.ts'
import { TOKEN_SCHEME } from './token-scheme.ts'

// Schemes that OpenAPI cannot declare come last: groups with them follow the others in a document.
const ALL = [TOKEN_SCHEME, OAUTH_SCHEME, EXTERNAL_SCHEME, JWT_SCHEME, BASIC_SCHEME, HMAC_SCHEME] as const

/** How a request proves who sends it. */
export type AuthMethod = (typeof ALL)[number]['method']

/** The authentication schemes that are served, in the order in which definitions are converted. */
export const SCHEMES: readonly Scheme<AuthMethod>[] = ALL

const BY_METHOD = new Map<string, Scheme>(SCHEMES.map((scheme) => [scheme.method, scheme]))

/** The scheme of these rules. @throws Error for a method that is not served */
export function schemeOfRules({ method }: { readonly method: string }): Scheme {
  const scheme = BY_METHOD.get(method)
  if (scheme === undefined) throw new Error(`there is no scheme ${method}`)
  return scheme
}
