import type { Clock } from '../../model/time/clock.ts'
import { perNameRules } from '../../runtime/attempt-limiter.ts'
import { LoginThrottle } from '../../runtime/login-throttle.ts'

const FORGET_MS = 900_000
const MOST_NAMES = 10_000

/** Makes the throttle for failed password checks of users of APIs, one for all APIs of a process. */
export function newBasicAuthThrottle(clock: Clock): LoginThrottle {
  const rules = { firstWaitMs: 1000, forgetMs: FORGET_MS, names: MOST_NAMES }
  return new LoginThrottle(clock, {
    pair: { ...rules, free: 5, longestWaitMs: 60_000 },
    // Anyone who knows a name can make its owner wait where the owner did not sign in before.
    name: perNameRules(50),
    // Many users may come from one address: that of an app's own server.
    address: { ...rules, free: 60, longestWaitMs: FORGET_MS },
    sharedAddresses: true,
  })
}
