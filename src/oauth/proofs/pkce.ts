import { hash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { equalSecrets } from '../../model/secrets/secret.ts'
import type { Form } from '../messages/form.ts'

/** The SHA-256 of a verifier is always 43 characters of base64url (RFC 7636 section 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/**
 * Reads the PKCE challenge of an authorization request (RFC 7636 section 4.3); '' when none was sent and none is needed.
 * Public clients need one, and every client of an API with `requirePkce`. S256 only: an absent method means `plain`, which
 * hides nothing from who sees the request (RFC 9700 section 2.1.1).
 * @throws Fault `oauth_invalid_request`
 */
export function readChallenge(
  form: Pick<Form, 'get'>,
  client: Pick<OAuthClient, 'auth_method'>,
  rules: Pick<OAuthRules, 'requirePkce'>,
): string {
  const challenge = form.get('code_challenge') ?? ''
  const method = form.get('code_challenge_method') ?? ''
  if (challenge === '' && method !== '') throw fault('oauth_invalid_request', 'code_challenge is missing')
  if (challenge === '') {
    if (client.auth_method === 'none' || rules.requirePkce)
      throw fault('oauth_invalid_request', 'code_challenge is missing: this client must use PKCE')
    return ''
  }
  if (method !== 'S256') throw fault('oauth_invalid_request', 'code_challenge_method must be S256')
  if (!CHALLENGE.test(challenge))
    throw fault('oauth_invalid_request', 'code_challenge must be 43 characters of base64url')
  return challenge
}

/** Why a token request does not prove the challenge of its code; undefined when it does. */
export function verifierFlaw(challenge: string, verifier: string | undefined): string | undefined {
  if (verifierFits(challenge, verifier)) return undefined
  if (challenge === '') return 'code_verifier was sent, but the code was requested without a code_challenge'
  if (verifier === undefined || verifier === '') return 'code_verifier is missing'
  return VERIFIER.test(verifier)
    ? 'code_verifier does not fit the code_challenge'
    : 'code_verifier must be 43 to 128 letters, digits and -._~'
}

/**
 * True when a token request proves the challenge of its code (RFC 7636 section 4.6). `challenge` '' means
 * a code without PKCE: then a verifier must not come, or a stripped challenge would go unseen (RFC 9700 section
 * 4.8.2). The comparison takes the same time wherever the texts differ.
 */
export function verifierFits(challenge: string, verifier: string | undefined): boolean {
  if (challenge === '') return verifier === undefined || verifier === ''
  if (verifier === undefined || !VERIFIER.test(verifier)) return false
  return equalSecrets(hash('sha256', verifier, 'base64url'), challenge)
}
