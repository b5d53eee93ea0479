import { flagOf, numberOf, objectOf } from '../../model/apis/definition/members.ts'
import { durationMs } from '../../model/apis/definition/values.ts'
import type { JsonObject } from '../../model/json/json.ts'

/** An API's rules for the keys that may use it. */
export interface KeyRules {
  /** Seconds that the store keeps a key; 0 = it has no opinion. */
  readonly lifetimeS: number
  /** Its lifetime never ends a key before its `expires`. */
  readonly respectExpires: boolean
  /** Saving a key leaves the count of its quota here as it is. */
  readonly keepQuota: boolean
}

/** Reads what a stored API says about keys straight from its definition: a key may name hundreds of APIs. */
export function readKeyRules(stored: JsonObject): KeyRules {
  const definition = objectOf(stored, 'definition')
  if (stored.format !== 'oas') {
    return {
      lifetimeS: numberOf(definition, 'session_lifetime'),
      respectExpires: flagOf(definition, 'session_lifetime_respects_key_expiration'),
      keepQuota: flagOf(definition, 'dont_set_quota_on_create'),
    }
  }
  const extension = objectOf(definition, 'x-svc-api-gateway')
  const lifetime = objectOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'customKeyLifetime')
  return {
    lifetimeS: flagOf(lifetime, 'enabled') ? secondsOf(lifetime.value) : 0,
    respectExpires: flagOf(lifetime, 'respectValidity'),
    keepQuota: flagOf(objectOf(objectOf(extension, 'middleware'), 'global'), 'skipQuotaReset'),
  }
}

function secondsOf(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' ? (durationMs(value) ?? 0) / 1000 : 0
}
