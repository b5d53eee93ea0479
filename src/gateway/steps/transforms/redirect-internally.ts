import { prebuilt } from '../../../errors/fault.ts'
import { encodedPath, readablePath } from '../../../model/patterns/readable-path.ts'
import { holdsEncodedSlash, type PathForms, readPath } from '../../../wire/http1/path.ts'
import { ENCODED_SLASH } from '../../routing/encoded-slashes.ts'
import { CORS_FIELDS } from '../../server/cors-fields.ts'
import type { Chain, Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import { run } from '../../server/run.ts'
import { refuseTrace } from '../access/limit-forwards.ts'

const LOOP = prebuilt('loop_detected')
const UNSERVED = prebuilt('api_unserved')
const NO_API = prebuilt('api_not_found')
const CLIMBS = prebuilt('request_malformed', 'the path climbs')

/** APIs that one request is led through at most, after the first. */
const MAX_HOPS = 5

/** Ends the walk of a request that is explained rather than served: it continues with these steps. */
export class InternalRedirect implements Reply {
  readonly status = 0
  readonly fields = ''
  readonly body = undefined
  readonly steps: readonly Step[]

  constructor(steps: readonly Step[]) {
    this.steps = steps
  }
}

/**
 * Continues a request in another API of the organisation (its id, or `self`), without a socket. An internal API, which has no other
 * entry, and the API itself do not authenticate the caller again; every other API checks what it checks of direct calls.
 */
export function redirectInternally(
  x: Exchange,
  apiId: string,
  path: string,
  query: string | undefined,
): StepOutcome | Promise<StepOutcome> {
  const from = x.chain!
  const chain = apiId === 'self' ? from : x.snapshot!.apis.get(apiId)?.main
  // An id may come to belong to another organisation, whose APIs nobody else leads traffic to.
  if (chain === undefined || chain.api.orgId !== from.api.orgId) return UNSERVED
  if (x.hops === MAX_HOPS) return LOOP
  const forms = readPath(path)
  if (forms instanceof Error) return CLIMBS
  if (holdsEncodedSlash(forms.path) && !chain.api.allowEncodedSlashes) return ENCODED_SLASH
  if (x.method === 'TRACE' && !chain.api.allowTrace) return refuseTrace(x)
  x.hops++
  enter(x, chain, forms, query)
  const steps = chain === from || chain.api.internal ? chain.inner : chain.redirectedSteps
  return x.dry ? new InternalRedirect(steps) : run(steps, x)
}

/**
 * The same for an API that the request names. One that has no entry for callers is none that they may choose, nor is this API without its
 * checks.
 */
export function redirectByName(x: Exchange, apiId: string, path: string, query: string | undefined) {
  const [from, named] = [x.chain!, x.snapshot!.apis.get(apiId)?.main]
  if (named === undefined || named === from || named.api.internal || named.api.orgId !== from.api.orgId) return NO_API
  return redirectInternally(x, apiId, path, query)
}

function enter(x: Exchange, chain: Chain, { path, sent }: PathForms, query: string | undefined): void {
  // Limits and counts are those of the API that answers.
  if (chain !== x.chain) x.plan = undefined
  x.chain = chain
  x.operation = undefined
  // Its rules ask nothing of those who come from another API, but its upstream is no voice there either.
  if (chain.api.cors !== undefined && x.corsFields === CORS_FIELDS.upstream) x.corsFields = CORS_FIELDS.gateway
  x.skipAuthentication = false
  x.alternative = 0
  x.rest = path
  x.apiPath = below(chain, path)
  x.forwardPath = forwardPathOf(chain, sent)
  x.hasQuery = query !== undefined
  x.forwardQuery = query ?? ''
}

/** The upstream URL of a chain for a path below the listen path. */
export function forwardPathOf(chain: Chain, rest: string): string {
  return chain.api.stripListenPath ? rest : below(chain, rest)
}

function below({ api }: Chain, rest: string): string {
  return `${encodedPath(readablePath(api.listenPath)).replace(/\/$/, '')}${rest}`
}

/** Replaces `forward` at an API whose upstream is another API: `svc://<api_id>/base`. */
export function forwardToApi(url: string): Step {
  const [, apiId = '', base = ''] = /^svc:\/\/([^/?]*)([^?]*)/i.exec(url) ?? []
  const before = base.replace(/\/$/, '')
  return function leadUpstream(x) {
    return redirectInternally(x, apiId, `${before}${x.forwardPath}` || '/', x.hasQuery ? x.forwardQuery : undefined)
  }
}
