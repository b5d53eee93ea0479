import type { Clock } from '../../model/time/clock.ts'
import { AttemptLimiter } from '../../runtime/attempt-limiter.ts'

const WINDOW_MS = 600_000
const NAMES = 10_000

/** Wrong user codes from one user's address, and from the login page where it tells no user's address. */
export interface DeviceAttempts {
  readonly user: AttemptLimiter
  readonly page: AttemptLimiter
}

/** At most 10 and 100 wrong user codes in ten minutes. */
export function deviceAttempts(clock: Clock): DeviceAttempts {
  const rules = { windowMs: WINDOW_MS, names: NAMES }
  return {
    user: new AttemptLimiter(clock, { ...rules, limit: 10 }),
    page: new AttemptLimiter(clock, { ...rules, limit: 100 }),
  }
}
