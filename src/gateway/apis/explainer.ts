import type { BlockList } from 'node:net'
import type { Config } from '../../config/schema.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import { addressList } from '../../model/network/address.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Store } from '../../store/ports/ports.ts'
import type { Authorization } from '../oauth/open-authorization.ts'
import { wireLimitsOf } from '../server/open-ports.ts'
import { type Explained, type ExplainParts, type ExplainRequest, explain } from './explain.ts'
import type { LiveConfig } from './live.ts'

interface NodeParts {
  readonly config: Config
  readonly clock: Clock
  readonly store: Pick<Store, 'counters'>
}

interface LiveParts {
  readonly live: LiveConfig
  readonly authorization: Authorization
}

/** Tells what would become of a request. */
export function explainerOf(node: NodeParts, core: LiveParts): (request: ExplainRequest) => Promise<Explained> {
  const parts = explainPartsOf(node, core)
  return (request: ExplainRequest) => explain(parts, request)
}

/** The dependencies of explanations on this node. */
export function explainPartsOf({ config, clock, store }: NodeParts, { live, authorization }: LiveParts): ExplainParts {
  return {
    clock,
    counters: store.counters,
    snapshot: () => live.snapshot,
    isOwnPath: ownPaths(config),
    endpoints: authorization.endpoints,
    bounds: wireLimitsOf(config.gateway),
    trustedProxies: trustedProxiesOf(config),
    legacyStatuses: config.compat.legacy_statuses,
  }
}

/** Addresses whose word on the client counts; undefined = nobody's. */
export function trustedProxiesOf({ gateway }: Config): BlockList | undefined {
  return gateway.trusted_proxies.length === 0 ? undefined : addressList(gateway.trusted_proxies)
}

/** A test for the paths that the product itself answers on the traffic port. */
function ownPaths({ gateway, compat }: Config): (path: string) => boolean {
  const words = ownWords(compat.vendor_aliases).join('|')
  const source =
    gateway.control_port === 0 ? `^/(?:(?:hello|ready|metrics)/?$|(?:${words})(?:/|$))` : '^/(?:hello|ready)/?$'
  const pattern = new RegExp(source)
  return (path) => pattern.test(path)
}
