import type { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { toFault, waitFault } from '../../errors/fault.ts'
import { peerAddress } from '../../model/network/forwarded-for.ts'
import { bearerToken, equalSecrets } from '../../model/secrets/secret.ts'
import type { AdminSecretThrottle } from '../../runtime/admin-secret-throttle.ts'
import type { ApiOwners } from '../apis/api-owners.ts'
import type { Route } from '../routes/route.ts'
import { clientAddress } from '../server/client-address.ts'
import type { RequestQuota } from '../server/intake.ts'
import type { DashboardParts } from '../server/parts.ts'
import { requestPath } from '../server/refuse.ts'
import { visitorBy } from '../sign-in/attempts.ts'
import type { Actor } from './actor.ts'
import { type Identities, identifyCaller, isInstallation } from './identify.ts'
import { checkOwned } from './owned.ts'
import { intentOf, permit } from './permit.ts'
import { type Visibility, visibilityOf } from './visibility.ts'

/** The dependencies of all routes. */
export interface RouteDeps {
  readonly parts: DashboardParts
  readonly owners: ApiOwners
  readonly who: Identities
  readonly trusted: BlockList
  /** Counts who guesses the admin secret. */
  readonly secretBrake: AdminSecretThrottle
  readonly intake: RequestQuota
}

/** The admitted caller and its visibility. */
export interface AdmittedCall {
  readonly actor: Actor | undefined
  /** True where it shows the admin secret, or that of scrapers, and the route asks for one. */
  readonly installation: boolean
  readonly visibility: Visibility
}

/**
 * Lets a request in before its body is read: who calls, whether the role allows it, whether others own what it names. `known` gets
 * the actor as soon as it is known, for the record of a refusal.
 * @throws Fault `login_required`, `not_owner` (401), `permission_missing`, `shared_with_others`, `csrf_token_wrong` (403),
 * `secret_throttled` (429)
 */
export async function admit(
  deps: RouteDeps,
  route: Route,
  request: FastifyRequest,
  known: { actor?: Actor | undefined },
): Promise<AdmittedCall> {
  const { parts, who, owners } = deps
  const scrapes = route.scraped === true && holdsSecret(deps, route, request)
  // Health and metrics wait for no store where no user is to be found.
  const actor = scrapes ? undefined : await identifiedFor(route, who, request)
  known.actor = actor
  const installation = isAsked(route, actor, request) && showsSecret(deps, route, request)
  const params = request.params as Record<string, string>
  const refused = permit({ route, params, path: requestPath(request), actor, installation })
  if (refused !== undefined) throw refused
  const ownershipOn = parts.config.dashboard.enable_ownership
  if (ownershipOn) await owners.fresh()
  const visibility = visibilityOf(actor, owners, ownershipOn)
  if (route.owned !== undefined && !visibility.everything)
    await checkOwned({ parts, visibility, orgId: actor?.orgId ?? '' }, route.owned, params, intentOf(route))
  return { actor, installation, visibility }
}

/** Credentials of users are no guesses at a secret; an admin secret beside one is. */
function isAsked({ access, scraped }: Route, actor: Actor | undefined, request: FastifyRequest): boolean {
  return access === 'installation' || (scraped === true && (actor === undefined || hasAdminAuth(request)))
}

function hasAdminAuth({ headers }: FastifyRequest): boolean {
  return (headers['admin-auth'] ?? '') !== ''
}

/**
 * Whether the call holds a secret that its route takes. Wrong ones are counted. @throws Fault `secret_throttled` (429) where too many came
 * from the address; public calls are answered without the secret then
 */
function showsSecret(deps: RouteDeps, route: Route, request: FastifyRequest): boolean {
  const { parts, trusted, secretBrake } = deps
  if (!hasAdminAuth(request) && scraperToken(route, request) === undefined) return false
  const right = holdsSecret(deps, route, request)
  const address = {
    clientAddress: clientAddress(request, trusted),
    peerAddress: peerAddress(request.socket.remoteAddress),
  }
  const waitMs = secretBrake.waitMs(visitorBy(parts, address), right)
  if (waitMs === 0) return right
  if (route.access === 'public') return false
  throw waitFault('secret_throttled', waitMs)
}

/** Whether `admin-auth` holds the admin secret, or `Authorization` that of scrapers where the route takes it. */
function holdsSecret({ parts }: RouteDeps, route: Route, request: FastifyRequest): boolean {
  const scraper = scraperToken(route, request)
  const accepted = parts.scraperSecrets?.() ?? [parts.config.metrics.secret]
  const scrapes = scraper !== undefined && accepted.some((secret) => secret !== '' && equalSecrets(scraper, secret))
  return scrapes || isInstallation(request.headers, parts.adminSecrets())
}

function scraperToken(route: Route, { headers }: FastifyRequest): string | undefined {
  return route.scraped ? bearerToken(headers.authorization) : undefined
}

/** Public calls work without a credential, and with one that is no good. */
async function identifiedFor(route: Route, who: Identities, request: FastifyRequest): Promise<Actor | undefined> {
  try {
    return await identifyCaller(who, request)
  } catch (error) {
    if (route.access === 'public' && toFault(error).code === 'csrf_token_wrong') return undefined
    throw error
  }
}
