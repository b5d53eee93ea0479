import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { refusalFields, renderFault, statusOf } from '../../errors/render.ts'
import { register } from '../clients/registration.ts'
import { textAnswer } from '../messages/answer.ts'
import { authorize } from './authorize.ts'
import { authorizeClient } from './authorize-client.ts'
import { authorizeDevice } from './device.ts'
import { introspect } from './introspect.ts'
import { jwks, metadata, openidConfiguration } from './metadata.ts'
import type { Endpoint, OAuthAnswer, OAuthCall, OAuthParts } from './parts.ts'
import { pushRequest } from './pushed.ts'
import { revokeAll, revokeRequest } from './revoke.ts'
import { token } from './token.ts'

export interface EndpointRoute {
  readonly methods: readonly string[]
  readonly serve: (parts: OAuthParts, call: OAuthCall) => OAuthAnswer | Promise<OAuthAnswer>
}

/** All endpoints of an authorization server. */
export const ROUTES: Readonly<Record<Endpoint, EndpointRoute>> = {
  authorize: { methods: ['GET', 'POST'], serve: authorize },
  authorize_client: { methods: ['POST'], serve: authorizeClient },
  token: { methods: ['POST'], serve: token },
  revoke: { methods: ['POST'], serve: revokeRequest },
  revoke_all: { methods: ['POST'], serve: revokeAll },
  introspect: { methods: ['POST'], serve: introspect },
  jwks: { methods: ['GET', 'HEAD'], serve: jwks },
  metadata: { methods: ['GET', 'HEAD'], serve: metadata },
  openid_configuration: { methods: ['GET', 'HEAD'], serve: openidConfiguration },
  par: { methods: ['POST'], serve: pushRequest },
  device_authorization: { methods: ['POST'], serve: authorizeDevice },
  register: { methods: ['POST', 'GET', 'PUT', 'DELETE'], serve: register },
}

/** RFC 7617: the challenge that RFC 6749 section 5.2 asks for beside `invalid_client`. */
const CHALLENGE = 'WWW-Authenticate: Basic realm="oauth", charset="UTF-8"\r\n'

/** The authorization servers of all APIs: which endpoint answers a call, and how a refusal looks. Knows no socket. */
export class AuthorizationServer {
  readonly #parts: OAuthParts

  constructor(parts: OAuthParts) {
    this.#parts = parts
  }

  /** Answers one call. Never rejects: every fault becomes an answer (RFC 6749 section 5.2). */
  async answer(call: OAuthCall): Promise<OAuthAnswer> {
    const { methods, serve } = ROUTES[call.endpoint]
    if (!methods.includes(call.method)) return this.#refuse(call, fault('method_not_allowed'), allow(methods))
    try {
      return await serve(this.#parts, call)
    } catch (error) {
      return this.#refuse(call, toFault(error))
    }
  }

  #refuse(call: OAuthCall, refusal: Fault, fields = ''): OAuthAnswer {
    const { config, log } = this.#parts
    const legacy = config.compat.legacy_statuses
    const level = refusal.entry.log
    if (level !== 'silent') {
      const about = { api_id: call.api.apiId, endpoint: call.endpoint, fault: refusal.code, err: refusal }
      log[level](about, `authorization server: ${refusal.entry.text}`)
    }
    const status = statusOf(refusal, legacy)
    const challenge = refusal.entry.oauth === 'invalid_client' && status === 401 ? CHALLENGE : ''
    return textAnswer(
      status,
      renderFault(refusal, legacy ? 'legacy-oauth' : 'oauth'),
      challenge + fields + refusalFields(refusal),
    )
  }
}

function allow(methods: readonly string[]): string {
  return `Allow: ${methods.join(', ')}\r\n`
}
