import type { IncomingMessage } from 'node:http'
import type { BlockList, Server, Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault, waitFault } from '../../errors/fault.ts'
import { isListed, peerAddress } from '../../model/network/forwarded-for.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import { type DropReason, descriptorLimit, shareDescriptors } from '../../model/nodes/descriptors.ts'
import { AttemptLimiter } from '../../runtime/attempt-limiter.ts'
import { type BudgetHolder, SharedBudget } from '../../runtime/shared-budget.ts'
import type { Actor } from '../access/actor.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from './parts.ts'

/** Largest body of a call that anybody may make, unless its route says otherwise. */
const PUBLIC_BYTES = 65_536
const MINUTE_MS = 60_000
const RETRY_MS = 1000
/** Parts of what the dashboard can bear: of the bytes for all public calls, of connections for one address. */
const PUBLIC_SHARE = 0.25
const CONNECTION_SHARE = 0.25
const MOST_ADDRESSES = 10_000
/** The charge of a call before its body arrives. */
const FIRST_BYTES = 1024
/** A public body has so long, and so much longer for each byte: ten seconds for 64 kB. */
const PUBLIC_BODY_MS = 5000
const PUBLIC_BYTES_PER_MS = 13

/** Largest body that a route takes. */
export function bodyLimitOf(route: Pick<Route, 'access' | 'bodyLimit'>, maxBodyBytes: number): number {
  return Math.min(maxBodyBytes, route.access === 'public' ? (route.bodyLimit ?? PUBLIC_BYTES) : maxBodyBytes)
}

/** Addresses with a signed-in user among their last calls. */
class SignedInAddresses {
  readonly #addresses = new Set<string>()

  add(address: string): void {
    this.#addresses.delete(address)
    this.#addresses.add(address)
    if (this.#addresses.size > MOST_ADDRESSES) this.#addresses.delete(this.#addresses.values().next().value!)
  }

  has(address: string): boolean {
    return this.#addresses.has(address)
  }
}

/** A body on its way. */
interface Body {
  readonly take: (bytes: number) => boolean
  /** Longest that it may take, milliseconds; undefined = as long as the server waits for any request. */
  readonly withinMs: number | undefined
}

const tooMany = () => waitFault('busy', RETRY_MS, 'too many bytes of bodies are on their way')

/** Bounds what callers may make the dashboard hold before anything of a body is read: calls a minute, bytes at once, connections. */
export class RequestQuota {
  readonly #parts: DashboardParts
  readonly #trusted: BlockList
  readonly #calls: AttemptLimiter
  readonly #public: SharedBudget
  readonly #known: SharedBudget
  readonly #signedIn = new SignedInAddresses()
  readonly #bodies = new WeakMap<IncomingMessage, Body>()

  /** `severalOrganisations`: true where there are more than that of a caller. */
  constructor(parts: DashboardParts, trusted: BlockList, severalOrganisations: () => boolean) {
    const { body_bytes_in_flight: most, security } = parts.config.dashboard
    this.#parts = parts
    this.#trusted = trusted
    this.#calls = new AttemptLimiter(parts.clock, { limit: security.public_calls_per_minute, windowMs: MINUTE_MS })
    this.#public = new SharedBudget(most * PUBLIC_SHARE, severalOrganisations)
    this.#known = new SharedBudget(most * (1 - PUBLIC_SHARE), severalOrganisations)
  }

  /** Counts a public call that brings a body. Answers the refusal of one too many from its address. */
  refusalOf(route: Pick<Route, 'access' | 'method'>, client: string): Fault | undefined {
    if (route.access !== 'public' || route.method === 'GET') return undefined
    const address = visitorOf(client)
    const waitMs = this.#calls.tryBegin(address)
    return waitMs === 0 ? undefined : waitFault('calls_throttled', waitMs)
  }

  /** A user was signed in at the address. */
  signedIn(client: string): void {
    this.#signedIn.add(visitorOf(client))
  }

  /**
   * Admits a body: its bytes are held as they come, until its call has ended. @throws Fault `body_too_large` (413), `busy` (503)
   */
  hold(
    route: Pick<Route, 'access' | 'bodyLimit'>,
    request: FastifyRequest,
    reply: FastifyReply,
    { client, actor }: { readonly client: string; readonly actor: Pick<Actor, 'userId' | 'orgId'> | undefined },
  ): void {
    const limit = bodyLimitOf(route, this.#parts.config.dashboard.max_body_bytes)
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    if (length === undefined && coding === undefined) return
    // How long a chunked body will be nobody knows.
    const announced = length === undefined ? limit : Number(length)
    if (announced === 0) return
    if (announced > limit) throw fault('body_too_large', `the body is larger than ${limit} bytes`)
    const isPublic = route.access === 'public'
    const budget = isPublic ? this.#public : this.#known
    const address = visitorOf(client)
    const known = this.#signedIn.has(address)
    const holder: BudgetHolder = { address, caller: actor?.userId ?? '', organisation: actor?.orgId ?? '' }
    let own = 0
    let came = 0
    const take = (bytes: number): boolean => {
      came += bytes
      const more = Math.max(came, Math.min(announced, FIRST_BYTES)) - own
      if (more <= 0) return true
      if (!budget.take(holder, more, own, known)) return false
      own += more
      return true
    }
    if (!take(0)) throw tooMany()
    reply.raw.once('close', () => budget.giveBack(holder, own))
    const { publicBodyMs = PUBLIC_BODY_MS } = this.#parts
    const withinMs = isPublic ? publicBodyMs + announced / PUBLIC_BYTES_PER_MS : undefined
    this.#bodies.set(request.raw, { take, withinMs })
  }

  /** Watches the body of an admitted call: refuses it where it holds too much (503) or takes too long (408). */
  watch(request: IncomingMessage): void {
    const body = this.#bodies.get(request)
    if (body === undefined) return
    const refuse = (refusal: Fault) => {
      end()
      if (request.listenerCount('error') > 0) request.emit('error', refusal)
    }
    const onData = (chunk: Uint8Array) => {
      if (!body.take(chunk.length)) refuse(tooMany())
    }
    const late =
      body.withinMs === undefined ? undefined : setTimeout(() => refuse(fault('request_timeout')), body.withinMs)
    const end = () => {
      clearTimeout(late)
      request.off('data', onData).off('end', end).off('close', end)
    }
    request.on('data', onData).on('end', end).on('close', end)
  }

  /** Bounds the connections of a server, and those of each address that is no trusted proxy. */
  bound(server: Server): void {
    const { max_connections: wanted } = this.#parts.config.dashboard
    const limit = descriptorLimit()
    const most = Math.min(wanted, shareDescriptors(limit, 0).dashboard)
    const open = new Map<string, number>()
    let dropped = 0
    const isShort = most < wanted
    const drop = (reason: DropReason) => {
      this.#parts.drops?.dropped(reason)
      dropped++
      if (dropped > 1) return
      setTimeout(() => {
        const what = { dropped, max_connections: most, open_files_limit: limit }
        const todo = isShort ? '; raise the limit of open files (ulimit -n, LimitNOFILE)' : ''
        this.#parts.log.warn(what, `dropped connections to the dashboard: too many are open${todo}`)
        dropped = 0
      }, RETRY_MS).unref()
    }
    server.maxConnections = most
    server.on('drop', () => drop(isShort ? 'descriptors' : 'max_connections'))
    // An accept that failed for want of descriptors.
    server.on('error', () => drop('descriptors'))
    server.on('connection', (socket: Socket) => {
      const peer = peerAddress(socket.remoteAddress)
      if (isListed(this.#trusted, peer)) return
      const address = visitorOf(peer)
      const count = (open.get(address) ?? 0) + 1
      if (count > Math.max(1, most * CONNECTION_SHARE)) {
        socket.destroy()
        drop('address')
        return
      }
      open.set(address, count)
      socket.once('close', () => {
        const left = open.get(address)! - 1
        if (left > 0) open.set(address, left)
        else open.delete(address)
      })
    })
  }
}
