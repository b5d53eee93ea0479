import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Versioning } from '../../../model/apis/definition/api.ts'
import { BoundedExpression } from '../../../model/patterns/bounded-expression.ts'
import { normalisedExpression } from '../../../model/patterns/pattern.ts'
import { readablePath } from '../../../model/patterns/readable-path.ts'
import { behindSegments, holdsEncodedSlash } from '../../../wire/http1/path.ts'
import { ENCODED_SLASH } from '../../routing/encoded-slashes.ts'
import type { Chain, Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { run } from '../../server/run.ts'
import { isPreflight } from '../answers/cors.ts'
import { singleParameter, withoutQuery } from '../authentication/read-credential.ts'
import { refuseTrace } from './limit-forwards.ts'

const MISSING = prebuilt('version_missing')
const UNKNOWN = prebuilt('version_unknown')
const REPEATED = prebuilt('version_repeated')

/** Walks the steps of a chain from within another, as its end. Explain walks them itself. */
function enter(x: Exchange, chain: Chain): StepOutcome | Promise<StepOutcome> {
  x.chain = chain
  return x.dry ? undefined : run(chain.steps, x)
}

const expressionOf = (text: string) => new BoundedExpression(normalisedExpression(text))

/**
 * Reads which version a request asks for (header, query parameter, or first path segment below the listen path) and continues
 * in that version's chain: another API (new style), or rules within this definition (old style).
 */
export function chooseVersion(versioning: Versioning, main: Chain, inline: ReadonlyMap<string, Chain>): Step {
  const ownCors = main.cors
  const urlPattern = versioning.urlPattern === '' ? undefined : expressionOf(versioning.urlPattern)
  const header = versioning.key.toLowerCase()

  const chainOf = (x: Exchange, name: string): Chain | undefined => {
    const own = inline.get(name)
    if (own !== undefined) return own
    if (Object.hasOwn(versioning.apis, name)) {
      const other = x.snapshot!.apis.get(versioning.apis[name]!)?.main
      // An id may come to belong to another organisation, whose APIs nobody else leads traffic to.
      return other?.api.orgId === main.api.orgId ? other : undefined
    }
    return name === versioning.name || name === 'self' ? main : undefined
  }

  /** The version as the request names it; '' when it does not, undefined when it does more than once. */
  const asked = (x: Exchange): string | undefined => {
    if (versioning.location !== 'url' && versioning.key === '') return ''
    if (versioning.location === 'header') return x.request.singleOfSpellings(header)
    if (versioning.location === 'query') return x.hasQuery ? singleParameter(x.query, versioning.key) : ''
    return readablePath(firstSegment(x.rest))
  }
  /** A segment that does not look like a version is not stripped. */
  const fits = (name: string) => urlPattern === undefined || versioning.location !== 'url' || urlPattern.test(name)

  const refuse = (x: Exchange, refusal: Fault): StepOutcome | Promise<StepOutcome> => ownCors?.(x) ?? refusal

  /** Both the API and its version must take encoded slashes. A version that says nothing of CORS has the rules of its API. */
  const lead = (x: Exchange, chain: Chain): StepOutcome | Promise<StepOutcome> => {
    if (main.api.allowEncodedSlashes && !chain.api.allowEncodedSlashes && holdsEncodedSlash(x.path))
      return refuse(x, ENCODED_SLASH)
    if (x.method === 'TRACE' && !chain.api.allowTrace) return refuse(x, refuseTrace(x))
    return (chain.api.cors === undefined ? ownCors?.(x) : undefined) ?? enter(x, chain)
  }

  return function chooseVersion(x) {
    // With its slash decoded it could name another version to the upstream.
    if (versioning.location === 'url' && holdsEncodedSlash(firstSegment(x.rest))) return refuse(x, ENCODED_SLASH)
    // Browsers send no field of the request in its preflight, so that it cannot name a version.
    if (ownCors !== undefined && versioning.location === 'header' && isPreflight(x)) {
      const answered = ownCors(x)
      if (answered !== undefined) return answered
    }
    const name = asked(x)
    // Nobody could say which of them the upstream takes.
    if (name === undefined) return refuse(x, REPEATED)
    if (name === '') {
      if (versioning.default === '') return refuse(x, MISSING)
      // Only under a name that upstreams read as the version's can there be one.
      drop(x, versioning, header)
      const chain = chainOf(x, versioning.default)
      return chain === undefined ? refuse(x, UNKNOWN) : lead(x, chain)
    }
    const chain = chainOf(x, name)
    if (chain !== undefined) {
      take(x, versioning, header, fits(name))
      return lead(x, chain)
    }
    if (!versioning.fallbackToDefault || versioning.default === '') return refuse(x, UNKNOWN)
    if (versioning.location === 'url' && versioning.strip && fits(name) && x.rest.includes('/', 1))
      take(x, versioning, header)
    else if (versioning.strip) drop(x, versioning, header)
    const fallback = chainOf(x, versioning.default)
    return fallback === undefined ? refuse(x, UNKNOWN) : lead(x, fallback)
  }
}

/** Rules look at the path below a version segment; `strip` also keeps the version's traces from the upstream. */
function take(x: Exchange, versioning: Versioning, header: string, strips = true): void {
  if (versioning.location !== 'url') {
    if (versioning.strip) drop(x, versioning, header)
    return
  }
  x.rest = x.rest.slice(firstSegment(x.rest).length + 1)
  if (!versioning.strip || !strips) return
  const before = x.chain!.api.stripListenPath ? 0 : x.path.slice(0, x.restAt).split('/').length - 1
  const path = x.forwardPath
  x.forwardPath = path.slice(0, behindSegments(path, before)) + path.slice(behindSegments(path, before + 1))
}

/** Keeps what a header or parameter says of the version from the upstream, in every spelling of its name. */
function drop(x: Exchange, { location, key }: Versioning, header: string): void {
  if (key === '') return
  if (location === 'header') {
    x.versionField = header
    x.request.drop(header)
  }
  if (location === 'query' && x.forwardQuery !== '') x.forwardQuery = withoutQuery(x.forwardQuery, key)
}

function firstSegment(rest: string): string {
  const end = rest.indexOf('/', 1)
  return end === -1 ? rest.slice(1) : rest.slice(1, end)
}
