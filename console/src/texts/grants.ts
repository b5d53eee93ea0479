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
 * The grants of an API's authorization server in the form: those of `src/model/oauth-clients/grants.ts` that are a flow of OpenAPI. The
 * others are switches of the scheme.
 */
export const GRANT_CHOICES: readonly GrantChoice[] = [
  { type: 'authorization_code', flow: 'authorizationCode', label: 'Authorization code: a user signs in' },
  { type: 'client_credentials', flow: 'clientCredentials', label: 'Client credentials: machine to machine' },
  { type: 'password', flow: 'password', label: 'Password: legacy clients only' },
]
