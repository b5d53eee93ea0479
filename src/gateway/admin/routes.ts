import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { OWN_WORD, ownWords } from '../../model/apis/definition/vendor-words.ts'
import { systemClock } from '../../model/time/clock.ts'
import { withEvents } from '../../publish/events/domain-events.ts'
import type { Exchange } from '../server/exchange.ts'
import { type AdminAnswer, sendAdminFault, sendAnswer } from './answer.ts'
import { apiRoutes } from './apis.ts'
import { certificateRoutes } from './certificates.ts'
import { healthRoutes, metricsRoute } from './health.ts'
import { keyRoutes } from './keys.ts'
import { nodeRoutes } from './node.ts'
import { oasRoutes } from './oas.ts'
import { oauthClientRoutes } from './oauth-clients.ts'
import { oauthDeliveryRoutes } from './oauth-deliveries.ts'
import { oauthTokenRoutes } from './oauth-tokens.ts'
import { openapiRoute } from './openapi-route.ts'
import { orgKeyRoutes } from './org-keys.ts'
import type { AdminParts } from './parts.ts'
import { policyRoutes } from './policies.ts'
import { underPreconditions } from './preconditions.ts'
import { AdminRequest } from './request.ts'
import { type AdminRoute, type AdminRouteMatch, RouteTree } from './route.ts'
import { signingKeyRoutes } from './signing-keys.ts'
import { traceRoutes } from './traces.ts'

/** Answers the product's own paths; false when the path is none of them on this port. */
type OwnPaths = (x: Exchange) => boolean

export interface AdminRoutes {
  readonly traffic: OwnPaths
  readonly control: OwnPaths
  /** The calls below `/svc/`. */
  readonly calls: readonly AdminRoute[]
}

/**
 * Makes what answers the product's own paths on each port. `/hello` and `/ready` are open on both, and numbers in `/hello` to callers who may read `/metrics`. With a control port, `/svc/`
 * and `/metrics` are on it alone, and look like any unknown path on the traffic port; without one they are on the traffic
 * port, and `/metrics` then asks for a secret, as it does anywhere where scrapers have one. The control port answers every path: it
 * serves no API.
 */
export function adminRoutes(given: Omit<AdminParts, 'documents'>): AdminRoutes {
  const { sealKey, store, clock = systemClock } = given
  const { enable_ownership: keepsTombstones, audit } = given.config.dashboard
  const kept = { keepsTombstones, notesDeletedIds: audit.enabled }
  const documents = withEvents({ ...store, clock, sealKey, ...kept })
  const parts: AdminParts = { ...given, documents }
  const [open, full] = [false, true].map((withValues) => new RouteTree(healthRoutes(parts, withValues))) as [
    RouteTree,
    RouteTree,
  ]
  const metrics = new RouteTree([metricsRoute(parts)])
  const apart = parts.config.gateway.control_port !== 0
  const calls = adminCalls(parts)
  const guarded = guard(parts, calls)
  const openToAll = parts.config.metrics.secret === ''
  const alone: OwnPaths = (x) =>
    openToAll ? x.path.charCodeAt(1) === LETTER_M && answerIn(parts, metrics, x, OWN_WORD) : asked(x)
  const asked: OwnPaths = (x) =>
    x.path.charCodeAt(1) === LETTER_M && metrics.find(x.path) !== undefined && guarded.metrics(x, metrics)
  /** Calls that belong on the other port go to no API: they hold secrets. @throws Fault `api_not_found`, as for any unknown path */
  const elsewhere: OwnPaths = (x) => {
    if ((x.path.charCodeAt(1) === LETTER_M && metrics.find(x.path) !== undefined) || guarded.isOwn(x.path))
      throw fault('api_not_found')
    return false
  }
  const health = (x: Exchange, readsAll: boolean) => {
    if (!mayBeHealth(x) || open.find(x.path) === undefined) return false
    return answerIn(parts, readsAll || showsSecret(parts, x) ? full : open, x, OWN_WORD)
  }
  return {
    traffic: apart ? (x) => health(x, false) || elsewhere(x) : (x) => health(x, false) || asked(x) || guarded.own(x),
    control: (x) => health(x, openToAll) || alone(x) || guarded.own(x) || nothingElse(parts, x),
    calls,
  }
}

/** As for the metrics page. Health is answered in any case: wrong secrets are counted, and show nothing. */
function showsSecret({ secretGate }: AdminParts, x: Exchange): boolean {
  try {
    return secretGate.knowsScraper(x)
  } catch {
    return false
  }
}

/** APIs are not served on the control port: it may be open to people who pass no API's own checks. */
function nothingElse(parts: AdminParts, x: Exchange): boolean {
  sendAdminFault(x, fault('not_found'), styleOf(parts))
  return true
}

const LETTER_M = 109
const LETTER_H = 104
const LETTER_R = 114

function mayBeHealth(x: Exchange): boolean {
  const first = x.path.charCodeAt(1)
  return (first === LETTER_H || first === LETTER_R) && x.path.length <= '/hello/'.length
}

/** The calls that need the secret. */
function guard(parts: AdminParts, calls: readonly AdminRoute[]) {
  const tree = new RouteTree(calls)
  const words = ownWords(parts.config.compat.vendor_aliases)
  const firstLetters = new Set(words.map((word) => word.charCodeAt(0)))
  const refuse = (x: Exchange, refusal: Fault) => {
    note(parts, x, refusal)
    sendAdminFault(x, refusal, styleOf(parts))
    return true
  }
  /** Undefined: the secret is there. */
  const refusalOf = (x: Exchange, scraped = false): Fault | undefined => {
    try {
      return (scraped ? parts.secretGate.knowsScraper(x) : parts.secretGate.knows(x))
        ? undefined
        : fault('admin_secret_wrong')
    } catch (error) {
      return toFault(error)
    }
  }
  const wordOf = (path: string) =>
    firstLetters.has(path.charCodeAt(1))
      ? words.find(
          (each) => path.startsWith(each, 1) && (path.length === each.length + 1 || path[each.length + 1] === '/'),
        )
      : undefined
  const own: OwnPaths = (x) => {
    const word = wordOf(x.path)
    if (word === undefined) return false
    const path = x.path.slice(word.length + 1)
    // The rest of the path may contain a key: from here on the log gets only its shape.
    x.path = `/${word}/`
    // Before anything else, so that nobody learns which paths there are.
    const refusal = refusalOf(x)
    if (refusal !== undefined) return refuse(x, refusal)
    const match = tree.find(path)
    if (match === undefined) return refuse(x, fault('not_found'))
    answer({ parts, tree, x, match, word, path })
    return true
  }
  const metrics = (x: Exchange, routes: RouteTree) => {
    const refusal = refusalOf(x, true)
    return refusal === undefined ? answerIn(parts, routes, x, OWN_WORD) : refuse(x, refusal)
  }
  return { own, metrics, isOwn: (path: string) => wordOf(path) !== undefined }
}

/** The calls below `/svc/`: one table, from which the description is made, too. */
export function adminCalls(parts: AdminParts): AdminRoute[] {
  const all: AdminRoute[] = [
    ...keyRoutes(parts),
    ...policyRoutes(parts),
    ...oasRoutes(parts),
    ...apiRoutes(parts),
    ...certificateRoutes(parts),
    ...oauthClientRoutes(parts),
    ...oauthTokenRoutes(parts),
    ...signingKeyRoutes(parts),
    ...orgKeyRoutes(parts),
    ...oauthDeliveryRoutes(parts),
    ...nodeRoutes(parts),
    ...traceRoutes(parts),
    openapiRoute(parts.version, () => all),
  ]
  return all
}

function answerIn(parts: AdminParts, tree: RouteTree, x: Exchange, word: string): boolean {
  const match = tree.find(x.path)
  if (match === undefined) return false
  answer({ parts, tree, x, match, word, path: x.path })
  return true
}

/** A call that matched, on its way. `path`: as sent, below the prefix. */
interface Matched {
  readonly parts: AdminParts
  readonly tree: RouteTree
  readonly x: Exchange
  readonly match: AdminRouteMatch
  readonly word: string
  readonly path: string
}

function answer(matched: Matched): void {
  const { parts, x, match, word } = matched
  const style = styleOf(parts)
  const route = match.methods.get(x.method === 'HEAD' ? 'GET' : x.method)
  if (route === undefined || (x.method === 'HEAD' && route.acts === true)) {
    sendAdminFault(x, fault('method_not_allowed'), style, `Allow: ${[...match.methods.keys()].join(', ')}\r\n`)
    return
  }
  if (x.path === `/${word}/`) x.path = `/${word}${route.path}`
  run(route, matched).then(
    (done) => sendAnswer(x, done),
    (error) => {
      const refusal = toFault(error)
      note(parts, x, refusal)
      sendAdminFault(x, refusal, style, '', word)
    },
  )
}

async function run(route: AdminRoute, matched: Matched): Promise<AdminAnswer> {
  const { parts, x, match, word, path } = matched
  const coding = x.request.get('content-encoding')
  if (route.method !== 'GET' && coding !== undefined && !/^(?:identity)?$/i.test(coding)) throw fault('body_encoded')
  const requestAt = (at: AdminRouteMatch) => new AdminRequest(x, word, at)
  const reads = readsOf(route, matched)
  return underPreconditions(parts.locks, {
    ...{
      route,
      path,
      reads: reads.map(
        ([read, at]) =>
          async () =>
            read.run(requestAt(at)),
      ),
    },
    tagged: [...match.methods.keys()].some((method) => method !== 'GET'),
    ifMatch: x.request.get('if-match'),
    ifNoneMatch: x.request.get('if-none-match'),
    run: async () => route.run(requestAt(match)),
  })
}

/** The reads that may have shown the caller what a call changes. */
function readsOf(route: AdminRoute, { tree, match, path }: Matched): [AdminRoute, AdminRouteMatch][] {
  const segments = path.split('/').filter((segment) => segment !== '')
  const isAct = !route.path.endsWith('}')
  const found: [AdminRoute, AdminRouteMatch][] = []
  for (let end = segments.length; end > 0 && (found.length === 0 || (isAct && found.length === 1)); end--) {
    const at = end === segments.length ? match : tree.find(segments.slice(0, end).join('/'))
    const read = at?.methods.get('GET')
    if (at !== undefined && read !== undefined && read.acts !== true) found.push([read, at])
  }
  return found
}

function styleOf(parts: AdminParts) {
  return { legacyStatuses: parts.config.compat.legacy_statuses }
}

/** The log gets what callers do not: the cause. Paths come without the names in them, because these may be keys. */
function note(parts: AdminParts, x: Exchange, refusal: Fault): void {
  const { log } = refusal.entry
  if (log === 'silent') return
  const fields = {
    request_id: x.requestId,
    code: refusal.code,
    method: x.method,
    path: x.path,
    peer: x.peerAddress,
    cause: refusal.cause,
  }
  parts.log[log](fields, refusal.message)
}
