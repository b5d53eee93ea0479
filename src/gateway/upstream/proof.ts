import type { UpstreamTls } from '../../model/apis/definition/upstream-resilience.ts'

/** The client certificate for an origin, and the pins that it must match. */
export interface Proof {
  /** Id of the certificate that the gateway shows; '' = none. */
  readonly certificate: string
  /** SHA-256 of keys or certificates, lower-case hex, one of which it must have; undefined = any trusted certificate. */
  readonly pins: readonly string[] | undefined
}

export const NO_PROOF: Proof = { certificate: '', pins: undefined }

/** The settings for an origin: `host:port` goes before `host`, that before the nearest `*.domain`, and `*` is for all others. */
export function proofFor(host: string, port: number, tls: UpstreamTls | undefined): Proof {
  if (tls === undefined) return NO_PROOF
  const names = [`${host}:${port}`, host, ...parents(host), '*']
  return { certificate: find(tls.certificates, names) ?? '', pins: find(tls.pins, names) }
}

function find<T>(entries: readonly (readonly [host: string, value: T])[], names: readonly string[]): T | undefined {
  const table = new Map(entries)
  const name = names.find((each) => table.has(each))
  return name === undefined ? undefined : table.get(name)
}

/** `*.b.c` and `*.c` for `a.b.c`. */
function parents(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)
}
