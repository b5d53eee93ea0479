import type { OAuthRules } from '../../../src/model/oauth-clients/oauth-rules.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { OAuthApi, OAuthCall } from '../../../src/oauth/endpoints/parts.ts'
import { RingCache } from '../../../src/oauth/signing-keys/ring-cache.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'

export const ISSUER = 'https://api.example.com/orders'
export const TOKEN_URL = `${ISSUER}/oauth/token`

/** The dependencies of the authorization server's proofs: a store and a clock that tests move. */
export interface ProofWorld {
  readonly clock: FakeClock
  readonly documents: Documents
  readonly ringCache: RingCache
  readonly sealKey: Buffer
  readonly config: {
    readonly gateway: typeof GATEWAY
    readonly compat: { readonly legacy_statuses: boolean; readonly vendor_aliases: readonly string[] }
  }
}

const GATEWAY = {
  oauth_token_expire: 3600,
  oauth_refresh_token_expire: 1_209_600,
  oauth_code_expire: 60,
  oauth_assertion_expire: 3600,
  oauth_registration_token: '',
  hash_keys: true,
}

const RULES: OAuthRules = {
  grants: new Set(['authorization_code', 'client_credentials', 'refresh_token']),
  responseTypes: new Set(['code']),
  loginRedirect: 'https://login.example.com/',
  notifyUrl: '',
  notifySecret: '',
  scopes: new Set(),
  accessTokenFormat: 'jwt',
  accessTokenType: 'at+jwt',
  signingAlgorithm: 'ES256',
  accessTokenS: 0,
  refreshTokenS: 0,
  codeS: 0,
  refreshReuseGraceS: 0,
  allowedResources: [],
  openRegistration: false,
  clientIdMetadata: false,
  registrationPolicies: [],
  requirePkce: false,
  requirePushedRequests: false,
  dpop: 'allowed',
  mutualTls: 'off',
}

/** A new world whose clock shows the present: independent clients read the machine's. */
export function makeWorld(after: (done: () => Promise<void>) => void): ProofWorld {
  const clock = new FakeClock(Date.now())
  const store = openMemoryStore({ clock })
  after(() => store.close())
  return {
    clock,
    documents: store.documents,
    ringCache: new RingCache(),
    sealKey: Buffer.alloc(32, 7),
    config: { gateway: GATEWAY, compat: { legacy_statuses: false, vendor_aliases: [] } },
  }
}

/** Another node on the same store: it shares no memory with the first. */
export function otherNode(world: ProofWorld): ProofWorld {
  return { ...world, ringCache: new RingCache() }
}

/** An API with an authorization server. */
export function makeApi(rules: Partial<OAuthRules> = {}): OAuthApi {
  return { apiId: 'orders', orgId: 'org1', oauth: { ...RULES, ...rules } } as OAuthApi
}

/** A call of an endpoint with these `DPoP` fields. */
export function makeCall(given: Partial<OAuthCall> & { readonly proofs?: readonly string[] } = {}): OAuthCall {
  const { proofs = [], ...members } = given
  const headers = (name: string) => (name === 'dpop' ? proofs : [])
  return {
    api: makeApi(),
    endpoint: 'token',
    rest: '',
    method: 'POST',
    issuer: ISSUER,
    issuerIsFixed: true,
    ownResources: [ISSUER],
    query: '',
    header: (name) => headers(name)[0],
    headers,
    body: async () => new Uint8Array(),
    clientAddress: '127.0.0.1',
    peerCertificate: '',
    administrative: false,
    ...members,
  }
}
