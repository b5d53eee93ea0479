import type { Upstream } from '../../wire/connect/upstream.ts'
import type { TargetHealth } from './target-health.ts'

/** One place that requests of an API are handed to: an origin, and the path under which it lives there. */
export interface Target {
  readonly upstream: Upstream
  /** Value of the Host field. */
  readonly authority: string
  readonly lineEnd: string // of a request to it: the rest of its first line, and the Host field
  /** Path in front of the request's own, without its last slash; often ''. */
  readonly basePath: string
  /** The whole path where the request has none of its own behind the listen path. */
  readonly emptyPath: string
  /** Query of the target URL, which goes before the request's own; without `?`. */
  readonly query: string
  /** undefined where nobody looks after it. */
  readonly health: TargetHealth | undefined
}

/** The weighted targets of one API, chosen in turn. */
export interface Targets {
  readonly list: readonly Target[]
  /** Resolves when targets that have to be looked up are known; absent where they are. */
  readonly opening?: Promise<void> | undefined
  /** undefined when all of them are down, which only targets with health checks or ejection can be. */
  next(): Target | undefined
  /** The one to try when this one, and so many in this request, could not be reached: as many steps as there are targets meet each once. */
  after(target: Target, unreached?: number): Target | undefined
  /** Those that are asked in turn now; absent where that is all of them. */
  asked?(): readonly Target[]
}
