import type { FaultCode } from '../../../errors/catalog.ts'
import type { BoundedExpression } from '../../patterns/bounded-expression.ts'

/** A rule that replaces an error answer: of the gateway, or of the upstream. */
export interface ErrorOverride {
  /** Kind of the gateway's own errors, or `URS` for errors of the upstream; '' = any. */
  readonly flag: string
  /** Looked for in the text of the error, or in the body of the upstream. */
  readonly pattern: Pick<BoundedExpression, 'test'> | undefined
  /** Member of an upstream's JSON body, by its path, and the text that it must hold; absent = none is looked at. */
  readonly field?: { readonly path: readonly string[]; readonly value: string }
  /** 0 = as it was. */
  readonly status: number
  /** Undefined = the body stays. Knows `{{.StatusCode}}` and `{{.Message}}`. */
  readonly body: string | undefined
  readonly message: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The rules of an API by status, or by its first digit and `xx`, in their order. The first that fits counts. */
export type ErrorOverrides = ReadonlyMap<string, readonly ErrorOverride[]>

/** The codes of the gateway's errors that each flag of a rule means. */
const ERROR_FLAGS: Readonly<Record<string, readonly FaultCode[]>> = {
  RLT: ['rate_exceeded', 'api_rate_exceeded', 'org_rate_exceeded'],
  QEX: ['quota_exceeded', 'org_quota_exceeded'],
  AMF: ['credential_missing', 'token_missing', 'basic_malformed', 'token_malformed'],
  AKI: ['key_unknown', 'key_inactive', 'user_unknown'],
  TKE: ['key_expired', 'token_expired', 'client_certificate_expired', 'client_certificate_revoked'],
  TKI: ['token_unknown', 'token_of_other_scheme', 'token_client_gone', 'signature_invalid'],
  TCV: ['token_without_rights'],
  BTL: ['body_too_large', 'body_too_large_api'],
  CLM: ['length_required'],
  BIV: ['request_invalid'],
  CRQ: ['client_certificate_required'],
  UCF: ['upstream_unreachable'],
  URT: ['upstream_timeout'],
  UPE: ['upstream_malformed'],
  DNS: ['upstream_unresolved'],
  NHU: ['upstream_all_down'],
  CBO: ['breaker_open'],
}

/** Errors of the upstream, which no code of ours means. */
const UPSTREAM_FLAG = 'URS'

/** Every flag that a rule may name. */
export const FLAG_NAMES: readonly string[] = [...Object.keys(ERROR_FLAGS), UPSTREAM_FLAG]

/** The first rule for a status that fits. */
export function findOverride(
  overrides: ErrorOverrides,
  status: number,
  fits: (override: ErrorOverride) => boolean,
): ErrorOverride | undefined {
  return overrides.get(`${status}`)?.find(fits) ?? overrides.get(`${Math.trunc(status / 100)}xx`)?.find(fits)
}

/** True for a rule that fits an error of the gateway. */
export function fitsFault({ flag, pattern }: ErrorOverride, code: FaultCode, text: string): boolean {
  if (flag !== '' && ERROR_FLAGS[flag]?.includes(code)) return true
  return pattern === undefined ? flag === '' : pattern.test(text)
}

/** True for a rule that fits an answer of the upstream. `json`: its body as JSON; undefined for another one. */
export function fitsAnswer(
  { flag, pattern, field }: ErrorOverride,
  status: number,
  text: string,
  json: () => unknown,
): boolean {
  if (flag === UPSTREAM_FLAG) return status >= 500
  if (flag !== '') return false
  if (field !== undefined && textAt(json(), field.path) === field.value) return true
  return pattern === undefined ? field === undefined : pattern.test(text)
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return typeof at === 'object' && at !== null ? JSON.stringify(at) : at === undefined ? undefined : String(at)
}
