import { type Clock, OncePerInterval } from '../../model/time/clock.ts'
import { newBasicAuthThrottle } from '../../publish/keys/basic-auth-users.ts'
import { AdminSecretThrottle } from '../../runtime/admin-secret-throttle.ts'
import { AttemptLimiter } from '../../runtime/attempt-limiter.ts'
import type { LoginThrottle } from '../../runtime/login-throttle.ts'
import { ownPlace, type RecentTables } from '../../runtime/recent-tables.ts'
import { RingCache } from '../signing-keys/ring-cache.ts'

const WINDOW_MS = 600_000

const NAMES = 10_000

/** Wrong user codes from one user's address, and from the login page where it tells no user's address. */
interface DeviceAttempts {
  readonly user: AttemptLimiter
  readonly page: AttemptLimiter
}

const WARNED_EVERY_MS = 3_600_000

/** The state that an authorization server keeps in memory between calls. */
export interface ServerState {
  readonly deviceAttempts: DeviceAttempts
  /** Wrong initial access tokens of dynamic registration, a secret of the installation. */
  readonly registrationBrake: AdminSecretThrottle
  /** Registrations without the initial access token, and updates of such clients, by address of the visitor. */
  readonly openRegistrations: AttemptLimiter
  /** Wrong secrets of clients, by client and address. */
  readonly clientSecretBrake: AdminSecretThrottle
  /** Failed password checks, shared with basic authentication where the process serves both. */
  readonly basicAuthThrottle: LoginThrottle
  /** The signing keys as this process has read them. */
  readonly ringCache: RingCache
  /** Limits warnings about the password grant to one an hour for each API. */
  readonly passwordGrantWarnings: OncePerInterval
}

/** Makes the state of an authorization server that has served nothing yet. */
export function newServerState(
  clock: Clock,
  tables = ownPlace().tables,
  basicAuthThrottle = newBasicAuthThrottle(clock, tables),
): ServerState {
  const registrations = { limit: 20, windowMs: 3_600_000, names: 10_000 }
  return {
    deviceAttempts: deviceAttempts(clock, tables),
    registrationBrake: new AdminSecretThrottle(clock, { tables, name: 'registration' }),
    openRegistrations: new AttemptLimiter(clock, registrations, { tables, name: 'open-registrations' }),
    clientSecretBrake: new AdminSecretThrottle(clock, { tables, name: 'client' }),
    basicAuthThrottle,
    ringCache: new RingCache(),
    passwordGrantWarnings: new OncePerInterval(WARNED_EVERY_MS),
  }
}

/** At most 10 and 100 wrong user codes in ten minutes. */
function deviceAttempts(clock: Clock, tables: RecentTables): DeviceAttempts {
  const rules = { windowMs: WINDOW_MS, names: NAMES }
  return {
    user: new AttemptLimiter(clock, { ...rules, limit: 10 }, { tables, name: 'device-users' }),
    page: new AttemptLimiter(clock, { ...rules, limit: 100 }, { tables, name: 'device-pages' }),
  }
}
