import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type ConnectionOptions, createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { prebuilt, toFault } from '../../errors/fault.ts'
import { NO_DESCRIPTORS, type SocketBudget } from '../listen/connection-limit.ts'
import { OriginConnection, type OriginPool, type OriginUser } from './origin.ts'
import type { Origin } from './origin-port.ts'

/** One origin server: scheme, host, port, and how long we wait for it. Holds its idle connections. */
export interface UpstreamOptions {
  /** Host name or address, without brackets. */
  readonly host: string
  readonly port: number
  /** Of a Unix socket that it listens on, instead of host and port. */
  readonly path?: string
  readonly secure: boolean
  /** Server name for TLS; defaults to `host`. */
  readonly serverName?: string
  /** Asks over HTTP/2: with prior knowledge without TLS, else where the upstream chooses it. */
  readonly http2?: boolean
  /** PEM of additional certificate authorities for TLS. */
  readonly ca?: string
  /** Skips the check of the upstream's certificate. */
  readonly insecure?: boolean
  /** Gives the context, with a client certificate, that a connection is opened with. What it throws ends the connection. */
  readonly identity?: () => Promise<SecureContext>
  /** SHA-256 of the public key (SubjectPublicKeyInfo) or certificate, lower-case hex, one of which the upstream must show. */
  readonly pins?: ReadonlySet<string>
  /** Name look-up, TCP and TLS handshake together. */
  readonly connectTimeoutMs: number
  /** From the last byte of the request handed over to the head of the answer. */
  readonly headTimeoutMs: number
  /** Longest silence within a body, either way. 0 = none. */
  readonly idleTimeoutMs: number
  /** From handing on to the end of the answer. 0 = none (streams). */
  readonly totalTimeoutMs: number
  readonly maxIdle: number
  readonly idleKeepMs: number
  /** Shared with the other upstreams; absent = connections are not bounded. */
  readonly sockets?: SocketBudget
}

/** Addresses older than this are looked up again in the background, when a new connection is opened. */
const REFRESH_MS = 30_000
/** How long connections to an origin that sent more than an answer are not used again. */
const SURPLUS_MS = 600_000

export class Upstream {
  readonly options: UpstreamOptions
  private readonly pool: OriginPool
  private readonly idle: OriginConnection[] = []
  /** Those that will be idle after a rest. */
  private readonly resting = new Set<OriginConnection>()
  private readonly waiting: OriginConnection[] = []
  /** Until then none is used again after an answer without a body, and after any answer; 0 = the origin sent nothing beyond its answers. */
  private noReuseAfterBodilessUntil = 0
  private noReuseUntil = 0
  private addresses: string[] | undefined
  private resolvedAt = 0
  private resolving = false
  /** With the client certificate that is shown; undefined where none is. */
  private context: SecureContext | undefined
  private closed = false

  constructor(options: UpstreamOptions) {
    this.options = options
    if (options.path !== undefined || isIP(options.host) !== 0) this.addresses = [options.path ?? options.host]
    this.pool = this.makePool()
  }

  /** Connections open and waiting for a request. */
  get idleCount(): number {
    return this.idle.length
  }

  /** Looks the address up ahead of the first request. Does nothing for an address, or when it is known. */
  warm(): void {
    if (this.addresses === undefined) this.resolve()
  }

  /** The connection that was used last, or a new one, which calls `originReady` when it is open. */
  take(user: OriginUser): Origin {
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      if (connection.usable) {
        connection.assign(user)
        return connection
      }
      connection.destroy()
    }
    return this.open(user)
  }

  /** A new connection, which calls `originReady` when it is open and `originFailed` when it cannot be; never within this call. */
  open(user: OriginUser): Origin {
    const connection = new OriginConnection(this.pool, user)
    if (this.options.sockets?.take() === false) queueMicrotask(() => connection.fail(NO_DESCRIPTORS))
    else if (this.options.identity === undefined) this.begin(connection)
    else void this.beginAs(connection, this.options.identity)
    return connection
  }

  private async beginAs(connection: OriginConnection, identity: () => Promise<SecureContext>): Promise<void> {
    try {
      this.context = await identity()
      this.begin(connection)
    } catch (error) {
      connection.fail(toFault(error))
    }
  }

  private begin(connection: OriginConnection): void {
    if (this.addresses === undefined) {
      this.waiting.push(connection)
      this.resolve()
      return
    }
    connection.connect(this.addresses)
    if (this.options.path !== undefined) return
    if (isIP(this.options.host) === 0 && performance.now() - this.resolvedAt > REFRESH_MS) this.resolve()
  }

  /** Closes idle connections and lets busy ones finish. A request that still comes gets a new connection. */
  close(): void {
    this.closed = true
    for (const connection of this.idle.splice(0)) connection.destroy()
  }

  private resolve(): void {
    if (this.resolving) return
    this.resolving = true
    lookup(this.options.host, { all: true }, (error, found) => {
      this.resolving = false
      this.resolvedAt = performance.now()
      if (error === null && found.length > 0) this.addresses = found.map((entry) => entry.address)
      const { addresses } = this
      for (const connection of this.waiting.splice(0)) {
        if (addresses !== undefined) connection.connect(addresses)
        else connection.fail(prebuilt('upstream_unresolved', error?.code ?? 'no address'))
      }
    })
  }

  private makePool(): OriginPool {
    const { port, connectTimeoutMs, headTimeoutMs, idleTimeoutMs, totalTimeoutMs, idleKeepMs } = this.options
    const { options } = this
    const contextOf = () => this.context
    let context: SecureContext | undefined
    let session: Buffer | undefined
    let tls: ConnectionOptions | undefined
    return {
      port,
      path: options.path,
      pins: options.pins,
      connectTimeoutMs,
      headTimeoutMs,
      idleTimeoutMs,
      totalTimeoutMs,
      idleKeepMs,
      get tls() {
        if (!options.secure) return undefined
        // A resumed session keeps its identity.
        if (context !== contextOf()) {
          tls = undefined
          session = undefined
          context = contextOf()
        }
        tls ??= secureOptions(options, context)
        return session === undefined ? tls : { ...tls, session }
      },
      release: (connection, bodiless) => this.release(connection, bodiless),
      rest: (connection) => this.rest(connection),
      surplus: (bodiless) => this.surplus(bodiless),
      forget: (connection) => this.forget(connection),
      reached: (address) => this.reached(address),
      session: (latest) => {
        // A resumed handshake shows no certificate to hold against the pins.
        if (options.pins === undefined) session = latest
      },
    }
  }

  private release(connection: OriginConnection, bodiless: boolean): boolean {
    this.resting.delete(connection)
    if (this.closed || this.idle.length >= this.options.maxIdle || this.options.sockets?.crowded === true) return false
    if (this.noReuseAfterBodilessUntil !== 0 && !this.mayReuse(bodiless)) return false
    this.idle.push(connection)
    return true
  }

  private rest(connection: OriginConnection): boolean {
    if (this.closed || this.resting.size >= this.options.maxIdle || this.options.sockets?.crowded === true) return false
    if (!this.mayReuse(true)) return false
    this.resting.add(connection)
    return true
  }

  private mayReuse(bodiless: boolean): boolean {
    return performance.now() >= (bodiless ? this.noReuseAfterBodilessUntil : this.noReuseUntil)
  }

  /** The idle ones may have more coming too. */
  private surplus(bodiless: boolean): void {
    const known = !this.mayReuse(bodiless)
    this.noReuseAfterBodilessUntil = performance.now() + SURPLUS_MS
    if (!bodiless) this.noReuseUntil = this.noReuseAfterBodilessUntil
    if (known) return
    for (const connection of this.idle.splice(0)) connection.destroy()
  }

  private forget(connection: OriginConnection): void {
    this.options.sockets?.giveBack()
    this.resting.delete(connection)
    const at = this.idle.indexOf(connection)
    if (at >= 0) this.idle.splice(at, 1)
    const waits = this.waiting.indexOf(connection)
    if (waits >= 0) this.waiting.splice(waits, 1)
  }

  /** The address that answered last is tried first. */
  private reached(address: string): void {
    const { addresses } = this
    if (addresses === undefined || addresses[0] === address) return
    this.addresses = [address, ...addresses.filter((other) => other !== address)]
  }
}

/** Module state: a cache of immutable values: the public certificate authorities, read at the first TLS upstream. */
let defaultContext: SecureContext | undefined

/** One context for all upstreams without their own certificate authorities: each context holds all public ones. */
function trust(ca: string | undefined): SecureContext {
  if (ca !== undefined) return createSecureContext({ minVersion: 'TLSv1.2', ca: [...getCACertificates('default'), ca] })
  defaultContext ??= createSecureContext({ minVersion: 'TLSv1.2' })
  return defaultContext
}

/** Options of TLS to an upstream, HTTP/1.1 alone offered; `context` holds the client certificate, if one is shown. */
export function secureOptions(options: UpstreamOptions, context: SecureContext | undefined): ConnectionOptions {
  const name = options.serverName ?? options.host
  return {
    secureContext: context ?? trust(options.ca),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    rejectUnauthorized: options.insecure !== true,
    ALPNProtocols: ['http/1.1'],
  }
}
