/** A grant that the form of an API offers in its list, with its text. */
interface GrantChoice {
  /** As in `allowed_access_types`. */
  readonly type: string
  readonly label: string
  /** The flow of OpenAPI. */
  readonly flow?: string
  /** Switch of the scheme in the extension, where it is no flow of OpenAPI. */
  readonly oas?: string
}

/**
 * The grants that the form of an API lists, of those in `src/model/oauth-clients/grants.ts`: flows of OpenAPI (`flow`), and others that are
 * a switch in the extension (`oas`). A grant with a switch of its own in the form has its row in `authentication/schemes.ts` instead.
 */
export const GRANT_CHOICES: readonly GrantChoice[] = [
  { type: 'authorization_code', flow: 'authorizationCode', label: 'Authorization code: a user signs in' },
  { type: 'client_credentials', flow: 'clientCredentials', label: 'Client credentials: machine to machine' },
  { type: 'password', flow: 'password', label: 'Password: legacy clients only' },
]
