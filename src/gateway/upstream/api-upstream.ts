import type { Api, UpstreamRules } from '../../model/apis/definition/api.ts'
import type { BreakerRule } from '../../model/apis/definition/upstream-resilience.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Clock } from '../../model/time/clock.ts'
import { API_EVENT_NAMES, type ApiEventName, apiEventRow } from '../../model/webhooks/api-events.ts'
import type { OnGatewayEvent } from '../events/events.ts'
import type { Step } from '../server/exchange.ts'
import { checkBreaker } from '../steps/forward/check-breaker.ts'
import { forward } from '../steps/forward/forward.ts'
import { forwardWithRetries } from '../steps/forward/forward-with-resilience.ts'
import { Balance, type WeightedTarget } from './balance.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import { SrvDiscovery } from './discovery.ts'
import type { SrvRecord } from './dns-message.ts'
import { HealthChecks } from './health-checks.ts'
import { type RetryCounts, UpstreamResilience } from './resilience.ts'
import type { Targets } from './target.ts'
import { TargetsHealth } from './target-health.ts'
import type { UpstreamPool } from './targets.ts'

export interface ApiUpstreamParts {
  readonly upstreams: UpstreamPool
  readonly clock: Clock
  readonly tell: OnGatewayEvent
  readonly counts: RetryCounts
  /** Called for events of this upstream, and when it is closed. */
  readonly began: (upstream: ApiUpstream) => void
  readonly closed: (upstream: ApiUpstream) => void
  /** DNS could not name the targets of this API; the previous ones stay. */
  readonly unresolved: (apiId: string, srvName: string, error: unknown) => void
  /** Addresses of DNS servers; none = those of the system. */
  readonly dnsServers: readonly string[]
  /** Who probes the targets of all gateway threads; absent = there is one thread. */
  readonly prober?: Prober | undefined
}

/** One thread of a process probes targets, and the others get what it has found. */
export interface Prober {
  /** True on the thread that probes. */
  readonly isHere: boolean
  /** Reports it to all others. */
  found(result: ProbeResult): void
}

/** The result of a round of checks of a target; '' = it is healthy. */
export interface ProbeResult {
  readonly apiId: string
  readonly target: string
  readonly reason: string
}

/** Rounds whose result is reported whatever it is: other threads may know another state than one that was started again. */
const REPORTED_ROUNDS = 10

/** A target of a definition, or one that DNS names. */
type TieredTarget = UpstreamRules['targets'][number] & Partial<Pick<WeightedTarget, 'tier'>>

/** Everything that one API has open towards its upstreams, with its resilience rules. Closed with the API. */
export class ApiUpstream {
  readonly #parts: ApiUpstreamParts
  readonly #api: Api
  #plain: readonly { close(): void }[] = []
  readonly #breakers: Breaker[] = []
  /** The targets under each time limit that versions and operations ask for. */
  readonly #balances: { readonly balance: Balance; readonly rules: UpstreamRules }[] = []
  #health: TargetsHealth | undefined
  #checks: HealthChecks | undefined
  #discovery: SrvDiscovery | undefined
  #records: readonly SrvRecord[] = []
  /** The target states of the previous definition, until ours are there. */
  #before: TargetsHealth | undefined
  #resilience: UpstreamResilience | undefined

  /** `before` serves the definition that this one replaces. */
  constructor(api: Api, parts: ApiUpstreamParts, before?: ApiUpstream) {
    this.#api = api
    this.#parts = parts
    this.#before = before === undefined ? undefined : before.#health
    if (this.#balanced || api.upstream.retries !== undefined) this.#begin()
  }

  /** True for an API that needs more than its turns to choose a target. */
  get #balanced(): boolean {
    const { health, ejection, discovery } = this.#api.upstream
    return health !== undefined || ejection !== undefined || discovery !== undefined
  }

  get apiId(): string {
    return this.#api.apiId
  }

  /**
   * Opens targets: those of the API with its resilience rules, others (of a rewrite, of a version) without.
   * @throws Fault `definition_invalid` when a URL is not an absolute http or https URL
   */
  open(rules: UpstreamRules): Targets {
    const { upstreams, clock } = this.#parts
    if (this.#health === undefined || !this.#balanced || rules.targets !== this.#api.upstream.targets) {
      const targets = upstreams.open(rules, this.#api.orgId)
      this.#plain = this.#plain.length === 0 ? [targets] : [...this.#plain, targets]
      return targets
    }
    const balance = new Balance(this.#health, clock)
    this.#balances.push({ balance, rules })
    if (rules.discovery !== undefined) this.#discover(balance, rules)
    else this.#fill(balance, rules, rules.targets)
    return balance
  }

  /** The breaker of an operation. */
  openBreaker(operation: string, rule: BreakerRule): Breaker {
    const { tell } = this.#parts
    if (this.#resilience === undefined) this.#begin()
    const breaker = new Breaker(operation, rule, (state) => {
      const kind = BREAKER_EVENTS.get(state)
      if (kind !== undefined) tell(kind, this.#api.apiId, { operation, cool_down_ms: rule.coolDownMs })
    })
    this.#breakers.push(breaker)
    return breaker
  }

  /** The last steps of a chain, which hand requests to these targets. Asked for once all operations are compiled. */
  forward(targets: Targets): Step[] {
    const { preserveHost } = this.#api.upstream
    if (this.#resilience === undefined) return [forward(targets, preserveHost)]
    const last = forwardWithRetries(this.#resilience, targets, preserveHost)
    return this.#breakers.length === 0 ? [last] : [checkBreaker(this.#parts.clock), last]
  }

  /** State of targets and breakers, as in `/svc/node`. */
  states(): JsonObject {
    const mono = this.#parts.clock.mono()
    return {
      api_id: this.apiId,
      targets: this.targetStates(),
      breakers: this.#breakers.map((breaker) => ({ operation: breaker.operation, state: breaker.look(mono) })),
    }
  }

  targetStates(): { target: string; state: 'up' | 'down' | 'ejected' }[] {
    return this.#health?.states() ?? []
  }

  /** Breakers that let nothing, or one request at a time, through. */
  openBreakers(): number {
    const mono = this.#parts.clock.mono()
    return this.#breakers.filter((breaker) => breaker.look(mono) !== 'closed').length
  }

  close(): void {
    this.#parts.closed(this)
    this.#discovery?.close()
    this.#checks?.close()
    for (const { balance } of this.#balances.splice(0)) balance.close()
    for (const targets of this.#plain) targets.close()
    this.#plain = []
  }

  /** Most APIs have no resilience rules, and hold nothing for them. */
  #begin(): void {
    const { clock, tell, counts, began, prober } = this.#parts
    const { apiId } = this.#api
    const { health: checks, ejection, retries } = this.#api.upstream
    const health = new TargetsHealth({ clock, checks, ejection, tell: (kind, detail) => tell(kind, apiId, detail) })
    this.#health = health
    this.#resilience = new UpstreamResilience({ health, retries, clock, counts })
    if (checks !== undefined && prober?.isHere !== false)
      this.#checks = new HealthChecks(checks, (target, reason) => {
        if (target.health === undefined) return
        const { down, contrary, rounds } = target.health
        health.checked(target.health, reason)
        // While all is well there is nothing to say.
        if (down || contrary > 0 || reason !== '' || rounds < REPORTED_ROUNDS)
          prober?.found({ apiId, target: target.health.url, reason })
      })
    began(this)
  }

  /** Takes in a check by the thread that probes. It has reported it. */
  checkedElsewhere({ target, reason }: ProbeResult): void {
    this.#health?.checkedElsewhere(target, reason)
  }

  #fill(balance: Balance, rules: UpstreamRules, targets: readonly TieredTarget[]): void {
    const { upstreams } = this.#parts
    const weighted = targets.filter(({ weight }) => Math.round(weight) > 0)
    const held: WeightedTarget[] = []
    try {
      for (const { url, weight, tier = 0 } of weighted.length > 0 ? weighted : targets) {
        const health = this.#health!.of(url)
        held.push({ ...upstreams.hold(url, weight, { ...rules, orgId: this.#api.orgId, health }), tier })
      }
    } catch (error) {
      for (const each of held) each.release()
      throw error
    }
    if (this.#before !== undefined) this.#health!.takeOver(this.#before)
    this.#before = undefined
    balance.replace(held)
    // Each target is checked once, with any time limits of requests.
    if (this.#balances[0]?.balance === balance) this.#checks?.follow(balance.list)
  }

  #discover(balance: Balance, rules: UpstreamRules): void {
    const { apiId, upstream } = this.#api
    const { dnsServers, unresolved } = this.#parts
    const { discovery } = upstream
    this.#discovery ??= new SrvDiscovery({
      rules: discovery!,
      servers: dnsServers,
      found: (records) => this.#found(records),
      failed: (error) => unresolved(apiId, discovery!.srvName, error),
    })
    if (this.#records.length > 0) this.#fill(balance, rules, this.#named())
    else {
      balance.opening = this.#discovery.opening.finally(() => {
        balance.opening = undefined
      })
    }
  }

  #found(records: readonly SrvRecord[]): void {
    if (sameRecords(this.#records, records)) return
    this.#records = records
    const targets = this.#named()
    this.#health!.retain(new Set(targets.map(({ url }) => url)))
    for (const { balance, rules } of this.#balances) this.#fill(balance, rules, targets)
  }

  /** The targets that DNS names, with scheme and path of the URL in the definition. */
  #named(): TieredTarget[] {
    const template = this.#api.upstream.targets[0]!.url
    return this.#records.flatMap(({ name, port, weight, priority: tier }) => {
      const { protocol, pathname, search } = new URL(template)
      const url = URL.parse(`${protocol}//${name}:${port}${pathname}${search}`)
      return url === null ? [] : [{ url: url.href, weight: Math.max(1, weight), tier }]
    })
  }
}

const BREAKER_EVENTS: ReadonlyMap<BreakerState, ApiEventName> = new Map(
  API_EVENT_NAMES.flatMap((name) => {
    const { breaker } = apiEventRow(name)
    return breaker === undefined ? [] : [[breaker, name] as const]
  }),
)

const SRV_MEMBERS = ['name', 'port', 'weight', 'priority'] as const

function sameRecords(a: readonly SrvRecord[], b: readonly SrvRecord[]): boolean {
  return a.length === b.length && a.every((one, i) => SRV_MEMBERS.every((name) => one[name] === b[i]![name]))
}
