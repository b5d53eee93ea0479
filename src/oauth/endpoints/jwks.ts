import type { JsonObject } from '../../model/json/json.ts'
import { publicAnswer } from '../messages/public-answer.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm, type StoredKey } from '../signing-keys/key-ring.ts'
import { KEY_SET_FRESH_S, type KeyParts, publishedKeys, signingKey } from '../signing-keys/keys.ts'
import type { OAuthAnswer, OAuthCall } from './parts.ts'

/**
 * Answers the key set that access tokens of the API are verified with (RFC 7517 section 5): keys of both algorithms, because
 * tokens outlive a change of the API's settings. Where the API issues such tokens there is a key from the first call on, so
 * that a verifier that starts before the first token finds it. The set may be kept for five minutes.
 * @throws Fault `store_away`, `store_full`
 */
export async function jwks(parts: KeyParts, { api }: OAuthCall): Promise<OAuthAnswer> {
  const { accessTokenFormat, signingAlgorithm } = api.oauth
  if (accessTokenFormat === 'jwt') await signingKey(parts, api.orgId, signingAlgorithm)
  const rings = SIGNING_ALGORITHMS.map(async (algorithm) => {
    const keys = await publishedKeys(parts, api.orgId, algorithm)
    return keys.map((key) => entryOf(key, algorithm))
  })
  return publicAnswer({ keys: (await Promise.all(rings)).flat() }, KEY_SET_FRESH_S)
}

function entryOf({ kid, jwk }: StoredKey, alg: SigningAlgorithm): JsonObject {
  return { ...jwk, kid, alg, use: 'sig' }
}
