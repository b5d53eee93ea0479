import { CATALOG, type FaultCode } from './catalog.ts'
import type { CatalogEntry } from './catalog-entry.ts'

/**
 * The one error type. `code` is a key of the catalogue, which knows status and public text;
 * `detail` is for the log and, where the catalogue says so, for the caller. No secret ever goes into it.
 */
export class Fault extends Error {
  readonly code: FaultCode
  /** Whole seconds after which the same may be allowed, for `Retry-After`; 0 = nothing is known of that. */
  readonly waitS: number

  constructor(code: FaultCode, detail?: string, cause?: unknown, waitS = 0) {
    super(detail ?? CATALOG[code].text, cause === undefined ? undefined : { cause })
    this.name = 'Fault'
    this.code = code
    this.waitS = waitS
  }

  get entry(): CatalogEntry {
    return CATALOG[this.code]
  }
}

/** Makes a fault to throw: `throw fault('not_found', 'no such policy')`. */
export function fault(code: FaultCode, detail?: string, cause?: unknown): Fault {
  return new Fault(code, detail, cause)
}

/** A fault for attempts that come too soon or too often: the answer says after how many milliseconds to retry. */
export function waitFault(code: FaultCode, waitMs: number, detail?: string): Fault {
  return new Fault(code, detail, undefined, Math.max(1, Math.ceil(waitMs / 1000)))
}

/**
 * Makes a fault for the hot path: built once at load, returned (not thrown) per request, without a stack,
 * because capturing one costs more than the whole request.
 */
export function prebuilt(code: FaultCode, detail?: string): Fault {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return new Fault(code, detail)
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** Turns anything thrown into a Fault; what is not one is `internal`, with the original as its cause. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault('internal', error instanceof Error ? error.message : String(error), error)
}
