import type { Config } from '../../config/schema.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import { AttemptLimiter } from '../../runtime/attempt-limiter.ts'
import { LoginThrottle, signInRules } from '../../runtime/login-throttle.ts'
import type { Documents, Store, Tokens } from '../../store/ports/ports.ts'
import { KeyTotals } from '../keys/key-totals.ts'
import { PolicyApis } from '../policies/policy-apis.ts'
import { MailLinkQueue } from '../sign-in/mail-link-queue.ts'
import { ProviderCaches } from '../single-sign-on/provider-cache.ts'
import { DashboardMetrics } from './dashboard-metrics.ts'
import { Mailer } from './mail.ts'

/** Entries that one user may have checked for moves in a minute: a move of 100,000 keys takes longer to write than to check. */
const MOVE_CHECKS = 20_000

/** The state that a dashboard keeps in memory between calls: one of each for all routes. */
export interface DashboardServices {
  /** Failed sign-ins of dashboard users. */
  readonly signInThrottle: LoginThrottle
  /** Failed sign-ins of developers: counted separately, so that an attack on the portal locks no administrator out. */
  readonly portalSignInThrottle: LoginThrottle
  /** Sign-ups of developers from one address. */
  readonly portalSignUpLimiter: AttemptLimiter
  /** Entries that a user has checked for a move, with a bound for each minute. */
  readonly moveChecks: AttemptLimiter
  readonly mailer: Mailer
  /** Requests of dashboard users for a password link. */
  readonly mailLinks: MailLinkQueue
  /** The same of developers. */
  readonly portalMailLinks: MailLinkQueue
  readonly providerCaches: ProviderCaches
  readonly policyApis: PolicyApis
  readonly keyTotals: KeyTotals
  readonly metrics: DashboardMetrics
}

/** The dependencies of these services. */
export interface ServiceInputs {
  readonly documents: Documents
  readonly tokens: Tokens
  readonly store: Pick<Store, 'feed'>
  readonly clock: Clock
  readonly log: Log
  readonly config: Config
  readonly mailPassword?: () => string
}

/** Makes the services of one dashboard. */
export function dashboardServices(inputs: ServiceInputs): DashboardServices {
  const { documents, tokens, store, clock, config } = inputs
  const { security, email_backend: mail } = config.dashboard
  const windowMs = security.login_failure_expiration * 1000
  const { login_failure_username_limit: pair, login_failure_ip_limit: address } = security
  const rules = signInRules({ pair, address, windowMs })
  return {
    signInThrottle: new LoginThrottle(clock, rules),
    portalSignInThrottle: new LoginThrottle(clock, rules),
    portalSignUpLimiter: new AttemptLimiter(clock, { limit: security.signup_ip_limit, windowMs }),
    moveChecks: new AttemptLimiter(clock, { limit: MOVE_CHECKS, windowMs: 60_000 }),
    mailer: new Mailer(mail, inputs.mailPassword),
    mailLinks: new MailLinkQueue(inputs),
    portalMailLinks: new MailLinkQueue(inputs),
    providerCaches: new ProviderCaches(clock),
    policyApis: new PolicyApis(documents, store.feed),
    keyTotals: new KeyTotals(tokens, store.feed, clock),
    metrics: new DashboardMetrics(config.metrics.duration_buckets_ms),
  }
}
