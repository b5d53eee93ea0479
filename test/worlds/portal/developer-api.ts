import type { JsonObject } from '../../../src/model/json/json.ts'

/** The members that make a classic definition one of OAuth clients. */
export function oauthDefinition(): JsonObject {
  return {
    use_oauth2: true,
    use_standard_auth: false,
    oauth_meta: { allowed_access_types: ['client_credentials'], auth_login_redirect: '' },
  }
}
