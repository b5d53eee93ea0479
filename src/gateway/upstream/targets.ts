import { fault } from '../../errors/fault.ts'
import type { UpstreamRules } from '../../model/apis/definition/api.ts'
import type { UpstreamTls } from '../../model/apis/definition/upstream-resilience.ts'
import { readSocketUrl } from '../../model/network/socket-url.ts'
import { inOnePiece } from '../../model/text/intern.ts'
import { Upstream, type UpstreamOptions } from '../../wire/connect/upstream.ts'
import { Http2Upstream } from '../../wire/http2/upstream.ts'
import { type WeightedTarget, weightedRoundRobin } from './balance.ts'
import type { ClientIdentities } from './client-identities.ts'
import type { Target, Targets } from './target.ts'
import type { TargetHealth } from './target-health.ts'

/** TLS settings of one origin: the client certificate of the gateway, and the pins that the origin must match. */
interface OriginTls {
  /** Id of the certificate that the gateway shows; '' = none. */
  readonly certificate: string
  /** SHA-256 of keys or certificates, lower-case hex, one of which it must have; undefined = any trusted certificate. */
  readonly pins: readonly string[] | undefined
}

const NO_ORIGIN_TLS: OriginTls = { certificate: '', pins: undefined }

/** The installation's part of an upstream's settings. */
export type UpstreamDefaults = Pick<
  UpstreamOptions,
  | 'connectTimeoutMs'
  | 'headTimeoutMs'
  | 'idleTimeoutMs'
  | 'totalTimeoutMs'
  | 'maxIdle'
  | 'idleKeepMs'
  | 'http2'
  | 'sockets'
>

/** `h2c` is HTTP/2 without TLS, with prior knowledge. `ws` and `wss` begin as requests over HTTP (RFC 6455 section 3). */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'h2c:'])
/** The options of opening a target, besides its URL. */
export interface HoldRules extends Pick<UpstreamRules, 'insecure' | 'timeoutMs' | 'tls' | 'keepsLastSlash'> {
  /** Whose certificates it may be shown. */
  readonly orgId: string
  readonly health: TargetHealth | undefined
}

/**
 * All upstreams of the process: APIs of an organisation with the same origin and settings share one, with its idle connections,
 * and it closes when the last of them is gone.
 */
export class UpstreamPool {
  readonly #defaults: UpstreamDefaults
  readonly #identities: ClientIdentities
  readonly #sockets: ReadonlySet<string>
  readonly #shared = new Map<string, { upstream: Upstream; users: number }>()

  /** `sockets`: paths of the Unix sockets that definitions may name. */
  constructor(defaults: UpstreamDefaults, identities: ClientIdentities, sockets: readonly string[]) {
    this.#sockets = new Set(sockets)
    this.#defaults = defaults
    this.#identities = identities
  }

  /** Number of origins that are in use. */
  get size(): number {
    return this.#shared.size
  }

  /**
   * Opens the targets of an API; `close` of the answer lets them go again.
   * @throws Fault `definition_invalid` when a URL is not an absolute http, https, h2c, ws or wss URL, nor a Unix socket that may be named
   */
  open(rules: UpstreamRules, orgId: string): Targets & { close(): void } {
    const weighted = rules.targets.filter(({ weight }) => Math.round(weight) > 0)
    const used = weighted.length > 0 ? weighted : rules.targets
    const held = used.map(({ url, weight }) => this.hold(url, weight, { ...rules, orgId, health: undefined }))
    const list = held.map(({ target }) => target)
    const close = () => {
      for (const { release } of held.splice(0)) release()
    }
    if (list.length === 1) {
      const only = list[0]!
      return { list, next: () => only, after: () => only, close }
    }
    const order = weightedRoundRobin(used.map(({ weight }) => weight))
    let turn = 0
    const next = () => {
      if (turn >= order.length) turn = 0
      return list[order[turn++]!]!
    }
    const after = (target: Target) => list[(list.indexOf(target) + 1) % list.length]!
    return { list, next, after, close }
  }

  /**
   * Opens one target.
   * @throws Fault `definition_invalid` when its URL is not an absolute http, https, h2c, ws or wss URL, nor a Unix socket that may be named
   */
  hold(
    text: string,
    weight: number,
    { orgId, insecure, timeoutMs, tls, health, keepsLastSlash }: HoldRules,
  ): Omit<WeightedTarget, 'tier'> {
    const socket = readSocketUrl(text)
    if (socket !== undefined && !this.#sockets.has(socket.path)) {
      throw fault('definition_invalid', `target ${text}: gateway.upstream_sockets does not list this socket`)
    }
    const url = URL.parse(
      socket === undefined ? text.replace(/^ws(?=s?:)/i, 'http') : `http://localhost${socket.basePath}`,
    )
    if (url === null || !SCHEMES.has(url.protocol)) {
      throw fault('definition_invalid', `target ${text}: not an absolute http, https, h2c, ws or wss URL`)
    }
    const secure = url.protocol === 'https:'
    const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
    const http2 = url.protocol === 'h2c:' || (secure && this.#defaults.http2 === true)
    const proof = secure ? originTlsFor(url.hostname, port, tls) : NO_ORIGIN_TLS
    const options: UpstreamOptions = {
      ...{ ...this.#defaults, host, port, secure, insecure, http2 },
      ...(socket && { path: socket.path }),
      ...(timeoutMs > 0 && { headTimeoutMs: timeoutMs }),
      ...(proof.certificate !== '' && { identity: () => this.#identities.contextOf(proof.certificate, orgId) }),
      ...(proof.pins !== undefined && { pins: new Set(proof.pins) }),
    }
    const shown = proof.certificate === '' ? '' : ` ${proof.certificate}`
    // Bytes that an upstream sends beyond an answer can be taken for the next one: of the same organisation at worst.
    const place = socket === undefined ? `${url.protocol}//${host} ${port}` : `unix:${socket.path}`
    const key = `${orgId} ${place} ${insecure} ${options.headTimeoutMs}${shown} ${proof.pins ?? ''}`
    const basePath = withoutLastSlashes(url.pathname)
    const target: Target = {
      upstream: this.#acquire(key, options),
      authority: url.host,
      lineEnd: inOnePiece(` HTTP/1.1\r\nHost: ${url.host}\r\n`),
      basePath,
      emptyPath: (keepsLastSlash === true ? url.pathname : basePath).replace(/^\/+/, '/') || '/',
      query: url.search.slice(1),
      health,
    }
    return { target, weight, release: () => this.#release(key) }
  }

  close(): void {
    for (const { upstream } of this.#shared.values()) upstream.close()
    this.#shared.clear()
    this.#identities.close()
  }

  #acquire(key: string, options: UpstreamOptions): Upstream {
    const known = this.#shared.get(key)
    if (known !== undefined) {
      known.users++
      return known.upstream
    }
    const upstream = options.http2 === true ? new Http2Upstream(options) : new Upstream(options)
    this.#shared.set(key, { upstream, users: 1 })
    return upstream
  }

  #release(key: string): void {
    const known = this.#shared.get(key)
    if (known === undefined || --known.users > 0) return
    this.#shared.delete(key)
    known.upstream.close()
  }
}

/** A path without the slashes at its end, however many there are. */
function withoutLastSlashes(path: string): string {
  let end = path.length
  while (path.endsWith('/', end)) end--
  return path.slice(0, end)
}

/** The settings for an origin: `host:port` goes before `host`, that before the nearest `*.domain`, and `*` is for all others. */
export function originTlsFor(host: string, port: number, tls: UpstreamTls | undefined): OriginTls {
  if (tls === undefined) return NO_ORIGIN_TLS
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
