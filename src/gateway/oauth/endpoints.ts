import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api, CorsRules } from '../../model/apis/definition/api.ts'
import { fixedIssuer, resourcesOf } from '../../model/apis/definition/issuer.ts'
import { OWN_WORDS, parsePathTemplate } from '../../model/apis/definition/template.ts'
import type { Log } from '../../model/logs/log.ts'
import { type Addresses, addressOf } from '../../model/nodes/addresses.ts'
import { METADATA_FRESH_S } from '../../oauth/endpoints/metadata.ts'
import type { CallHeader, Endpoint, OAuthAnswer, OAuthApi, OAuthCall } from '../../oauth/endpoints/parts.ts'
import { publicAnswer } from '../../oauth/messages/answer.ts'
import type { Fields } from '../../wire/http1/fields.ts'
import type { SecretGate } from '../admin/admin-secret.ts'
import { flawOfDates } from '../authentication/authorities.ts'
import { batchEndpoint, type OwnEndpoint, rateLimitsEndpoint } from '../routing/own-paths.ts'
import type { Exchange, Reply, RouteMatch, ServedApi, Snapshot, Step, StepOutcome } from '../server/exchange.ts'
import { cors } from '../steps/answers/cors.ts'
import { EndpointPaths, type FoundEndpoint, type OwnedEndpoint, WELL_KNOWN } from './endpoint-paths.ts'
import { issuerOf } from './issuer.ts'
import { metadataAddress, resourceMetadata, takesTokens } from './protected-resource.ts'

/** The dependencies of the endpoints. */
export interface EndpointParts {
  readonly answer: (call: OAuthCall) => Promise<OAuthAnswer>
  readonly addresses: { readonly current: Addresses }
  /** Names for `svc`, itself first. */
  readonly words: readonly string[]
  readonly secretGate: SecretGate
  readonly log: Log
}

/** An endpoint outside the listen path of its API. */
export interface ElsewhereFound {
  readonly served: ServedApi
  readonly found: FoundEndpoint
  /** The part of the request's path that replaces the listen path. */
  readonly prefix: string
}

/** The first step's response for a request that is explained rather than served. */
export const ANSWERED_BY_AUTHORIZATION_SERVER: Reply = { status: 0, fields: '', body: undefined }

const DOT = 46
const NOT_ALLOWED = prebuilt('method_not_allowed')

/** The endpoints of all authorization servers of this node: which paths they have, and how a request becomes a call of one. */
export class OAuthEndpoints {
  readonly #parts: EndpointParts
  readonly #paths: EndpointPaths
  readonly isBatch: OwnEndpoint
  readonly isRateLimits: OwnEndpoint
  readonly #cors = new WeakMap<Api, { readonly pages: Step | undefined; readonly calls: Step | undefined }>()
  readonly #warned = new Set<string>()
  readonly #match: RouteMatch = { served: undefined, restAt: 0 }

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#paths = new EndpointPaths(parts.words)
    this.isBatch = batchEndpoint(parts.words)
    this.isRateLimits = rateLimitsEndpoint(parts.words)
  }

  /** The first step of an API that takes tokens: answers the paths of its metadata and its authorization server, and lets every other pass. */
  stepFor(api: Api): Step {
    const paths = this.#paths
    if (hasAuthorizationServer(api)) this.#warn(api)
    const hide = (x: Exchange) => this.hideSecrets(x.request)
    const serve = (x: Exchange, found: FoundEndpoint) => this.answer(x, api, found, x.path.slice(0, x.restAt))
    return function answerOAuth(x) {
      const found = paths.find(x.rest)
      if (found !== undefined && answers(api, found.endpoint)) return serve(x, found)
      hide(x)
      return undefined
    }
  }

  /**
   * Removes the gateway's credentials from fields of a request that is forwarded to an API: no step, module, record or upstream gets the
   * administration secrets.
   */
  hideSecrets(fields: Fields): void {
    this.#parts.secretGate.hide(fields)
  }

  /**
   * An endpoint that is reached before any API is looked for (the metadata of RFC 8414 section 3.1, the issuer's path behind the
   * well-known one) or, with `unrouted`, where none answers (`/{api_id}/oauth/...`).
   */
  findElsewhere(x: Exchange, snapshot: Snapshot, unrouted: boolean): ElsewhereFound | undefined {
    if (unrouted) return this.#findById(x, snapshot)
    return x.path.charCodeAt(1) === DOT ? this.#findMetadata(x, snapshot) : undefined
  }

  /** True for a path below the listen path of an API that the API itself answers: its authorization server, batches, or rate limits. */
  isEndpoint(api: Api, rest: string): boolean {
    return this.#answers(rest, 0)?.(api) === true
  }

  /** True for an API whose listen path may be longer than that of one whose endpoint is asked for: by what its segments can match. */
  mayHide({ listenPath }: Api): boolean {
    const segments = parsePathTemplate(listenPath).map((segment) =>
      typeof segment === 'string' ? segment.toLowerCase() : '',
    )
    return (
      segments.length === 0 ||
      segments.some((word) => word === '' || FIRST_SEGMENTS.has(word) || this.#parts.words.includes(word))
    )
  }

  /**
   * Leads a request for an endpoint of one API (batches and rate limits too) back to it, where a longer listen path hides it from the router, or one that
   * takes any first segment hides `/{api_id}/oauth/...`. Answers what was found elsewhere than below a listen path.
   */
  reclaim(x: Exchange, snapshot: Snapshot, match: RouteMatch): ElsewhereFound | undefined {
    const { path } = x
    for (let at = 0; at !== -1 && at < match.restAt; at = path.indexOf('/', at + 1)) {
      const answers = this.#answers(path, at)
      if (answers === undefined) continue
      const owner = this.#match
      snapshot.router.find(x.host, at === 0 ? '/' : path.slice(0, at), owner)
      const { served, restAt } = owner
      if (served === undefined || restAt !== at || !answers(served.api)) continue
      match.served = served
      match.restAt = at
      return undefined
    }
    return this.#findById(x, snapshot)
  }

  /** Answers a request at an endpoint that was found elsewhere. */
  enter(
    x: Exchange,
    snapshot: Snapshot,
    { served, found, prefix }: ElsewhereFound,
  ): StepOutcome | Promise<StepOutcome> {
    x.snapshot = snapshot
    x.chain = served.main
    return this.answer(x, served.api, found, prefix)
  }

  /** Answers a call of an endpoint. It is no traffic of the API: no limit, no hit; only its CORS rules apply. */
  answer(x: Exchange, api: Api, found: FoundEndpoint, prefix: string): StepOutcome | Promise<StepOutcome> {
    x.atAuthorizationServer = true
    if (x.dry) return ANSWERED_BY_AUTHORIZATION_SERVER
    if (found.endpoint !== 'authorize_client') {
      const early = this.#corsOf(api, found.endpoint)?.(x)
      if (early !== undefined) return early
    }
    if (found.endpoint === 'protected_resource') return this.#describe(x, api, prefix)
    if (!hasAuthorizationServer(api)) return undefined
    return this.#parts.answer(this.#callOf(x, api, found.endpoint, found.below, prefix))
  }

  /** Which APIs answer by themselves what is in `path` from the slash at `at` on; undefined = none does. */
  #answers(path: string, at: number): ((api: Api) => boolean) | undefined {
    const found = this.#paths.findAt(path, at)
    if (found !== undefined) return (api) => answers(api, found.endpoint)
    if (this.isBatch(path, at)) return ({ batches }) => batches === true
    return this.isRateLimits(path, at) ? ({ auth }) => auth !== undefined : undefined
  }

  #findMetadata(x: Exchange, snapshot: Snapshot): ElsewhereFound | undefined {
    const wellKnown = WELL_KNOWN.find(([each]) => x.path.startsWith(each))
    if (wellKnown === undefined) return undefined
    const [before, endpoint] = wellKnown
    const path = x.path.slice(before.length)
    if (path !== '' && !path.startsWith('/')) return undefined
    const match = this.#match
    snapshot.router.find(x.host, path === '' ? '/' : path, match)
    const { served, restAt } = match
    if (served === undefined || !answers(served.api, endpoint) || path.length - restAt > 1) return undefined
    return { served, found: { endpoint, below: '' }, prefix: path }
  }

  /** At a host or path of another organisation, or of another owner, the id of an API means nothing, even while nothing is served there. */
  #findById(x: Exchange, snapshot: Snapshot): ElsewhereFound | undefined {
    const end = x.path.indexOf('/', 1)
    const found = end === -1 ? undefined : this.#paths.findAt(x.path, end)
    if (found === undefined) return undefined
    const id = x.path.slice(1, end)
    const served = snapshot.apis.get(id)
    if (served?.api.oauth === undefined || served.api.internal || served.api.listenPath.includes('{')) return undefined
    const { domain, orgId } = served.api
    if (OWN_WORDS.has(id)) return undefined
    if (domain !== '' && domain !== x.host) return undefined
    const owner = snapshot.router.ownerOf(x.host)
    if ((owner !== undefined && owner !== orgId) || snapshot.territories.isHeldByOthers(served.api, x.host, x.path))
      return undefined
    return { served, found, prefix: '' }
  }

  /** A caller who chooses the Host header would get tokens and metadata that name it. */
  #warn(api: OAuthApi): void {
    const { domain } = api
    if (domain !== '' || addressOf(api, this.#parts.addresses.current) !== undefined || this.#warned.has(api.apiId))
      return
    this.#warned.add(api.apiId)
    const text = 'takes its issuer from the Host of each request: set gateway.public_url'
    this.#parts.log.warn({ api_id: api.apiId }, `the authorization server of API "${api.name}" ${text}`)
  }

  /** Browsers never ask for the authorization endpoint, they go there. */
  #corsOf(api: Api, endpoint: OwnedEndpoint): Step | undefined {
    const known = this.#cors.get(api) ?? {
      pages: cors({ cors: ownCors(api.cors) }),
      calls: cors({ cors: ownCors(api.cors ?? ANY_ORIGIN) }),
    }
    this.#cors.set(api, known)
    return endpoint === 'authorize' ? known.pages : known.calls
  }

  /** Address of the metadata of an API that takes tokens, as its challenges name it. */
  metadataAddress(x: Exchange, api: Api): string {
    return metadataAddress(x, api, this.#parts.addresses.current)
  }

  #describe(x: Exchange, api: Api, prefix: string): Reply | Fault {
    if (x.method !== 'GET' && x.method !== 'HEAD') {
      x.answerExtra += 'Allow: GET, HEAD\r\n'
      return NOT_ALLOWED
    }
    const { current } = this.#parts.addresses
    const issuer = fixedIssuer(api, current) ?? issuerOf(x, api, current, prefix)
    // Clients compare it with the address that they made this one from (RFC 9728 section 3.3), a last slash too.
    const resource = prefix.length > 1 && prefix.endsWith('/') ? `${issuer}/` : issuer
    return publicAnswer(resourceMetadata(api, resource, issuer), METADATA_FRESH_S)
  }

  #callOf(x: Exchange, api: OAuthApi, endpoint: Endpoint, below: string, prefix: string): OAuthCall {
    // Copied: the client may leave while the call is answered, and its exchange is emptied then.
    const { request } = x
    const { current } = this.#parts.addresses
    const fixed = fixedIssuer(api, current)
    const issuer = fixed ?? issuerOf(x, api, current, prefix)
    const known = resourcesOf(api, current, prefix)
    const fields: Record<CallHeader, readonly string[]> = {
      authorization: request.all('authorization'),
      'content-type': request.all('content-type'),
      dpop: request.all('dpop'),
    }
    return {
      api,
      endpoint,
      rest: below,
      method: x.method,
      issuer,
      issuerIsFixed: fixed !== undefined,
      ownResources: known.length === 0 ? [issuer] : known,
      query: x.query,
      header: (lowerName) => fields[lowerName][0],
      headers: (lowerName) => fields[lowerName],
      body: (limitBytes) => x.readBody(limitBytes),
      clientAddress: x.clientAddress,
      peerCertificate: validCertificate(x),
      administrative: this.#parts.secretGate.knows(x),
    }
  }
}

/** Without CORS of the API: the endpoints take no cookies, so a page of any origin gets nothing that it could not ask for itself. */
const ANY_ORIGIN: CorsRules = {
  origins: ['*'],
  methods: [],
  headers: [],
  exposed: [],
  credentials: false,
  maxAgeS: 0,
  passthrough: false,
}
const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'DELETE']
const ENDPOINT_HEADERS = ['Accept', 'Authorization', 'Content-Type', 'DPoP']

/** The rules of an API as its authorization server applies them, whose methods and headers are its own, and who answers every preflight. */
function ownCors(rules: CorsRules | undefined): CorsRules | undefined {
  if (rules === undefined) return undefined
  return {
    ...rules,
    methods: [...new Set([...rules.methods, ...ENDPOINT_METHODS])],
    headers: [...new Set([...rules.headers, ...ENDPOINT_HEADERS])],
    exposed: [...new Set([...rules.exposed, 'WWW-Authenticate'])],
    passthrough: false,
  }
}

/** First segments of the paths of endpoints, besides the words that mean `svc`. */
const FIRST_SEGMENTS: ReadonlySet<string> = new Set(['oauth', '.well-known'])

/** True where an API answers an endpoint. */
function answers(api: Api, endpoint: OwnedEndpoint): boolean {
  return endpoint === 'protected_resource' ? takesTokens(api) : hasAuthorizationServer(api)
}

/** True for an API with an authorization server. */
export function hasAuthorizationServer(api: Api): api is OAuthApi {
  return api.oauth !== undefined
}

/** SHA-256 of the certificate that a client proves who it is with; one that is not valid now proves nothing. */
function validCertificate({ peerCertificate, wall }: Exchange): string {
  return peerCertificate === '' || flawOfDates(peerCertificate, wall) !== undefined ? '' : peerCertificate.sha256
}
