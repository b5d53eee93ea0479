import { Fault, fault } from '../../errors/fault.ts'

/** The fault for the first word of a Redis error; every other one is `store_away`. */
const CODES = {
  OOM: 'store_full',
  READONLY: 'store_read_only',
  MISCONF: 'store_read_only',
  NOREPLICAS: 'store_read_only',
  NOAUTH: 'store_refused',
  WRONGPASS: 'store_refused',
  NOPERM: 'store_refused',
  LOADING: 'store_away',
  MASTERDOWN: 'store_away',
  CLUSTERDOWN: 'store_away',
  MOVED: 'store_away',
  ASK: 'store_away',
} as const satisfies Record<string, Fault['code']>

/**
 * Turns what the client threw into a fault: `store_full` (Redis has no memory left), `store_read_only` (a replica, or one that
 * cannot save), `store_refused` (credentials), otherwise `store_away`.
 */
export function redisFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const detail = error instanceof Error ? error.message : String(error)
  return fault(codeOf(detail) ?? 'store_away', `Redis: ${detail}`, error)
}

/** True for the error of a Redis that has not seen a script yet, or has forgotten it. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

/** True for answers of a Redis that serves no calls, or no writes, for now; a refused command (`NOPERM`) says nothing of others. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof Fault) return false
  const code = codeOf(error.message)
  return code !== undefined && code !== 'store_refused'
}

/** True when another server is to be asked: this one is no master any more, or a cluster has given the slot to another. */
export function hasMoved(error: unknown): boolean {
  return error instanceof Error && /\b(?:READONLY|MOVED|ASK|CLUSTERDOWN|MASTERDOWN)\b/.test(error.message)
}

/** Errors within a script are wrapped with the script's name. */
function codeOf(detail: string): Fault['code'] | undefined {
  const first = /^(?:ERR Error running script.*?: -?|ERR )?-?([A-Z]+)\b/.exec(detail)?.[1] ?? ''
  return Object.hasOwn(CODES, first) ? CODES[first as keyof typeof CODES] : undefined
}
