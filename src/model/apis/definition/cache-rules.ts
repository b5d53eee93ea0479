/** How the answers of an API are stored. */
export interface CacheRules {
  /** True = safe requests of all paths are answered from the cache; false = only those of operations that ask for it. */
  readonly allSafe: boolean
  /** Seconds that an answer is given, at most, where the upstream does not decide; 0 = it is not stored, unless its operation says how long. */
  readonly timeoutS: number
  /** Statuses that are stored; empty = those that RFC 9110 section 15.1 lets caches choose. */
  readonly statuses: readonly number[]
  /** Request headers (lower case) whose values tell answers apart, besides those that the upstream names in `Vary`. */
  readonly byHeaders: readonly string[]
  /** True = the upstream says how long, and an answer about which it says nothing is not stored. */
  readonly upstreamDecides: boolean
  /** Header of the upstream's answer (lower case) that says how many seconds; '' = none. */
  readonly lifetimeHeader: string
  /** True = callers with different keys are given the same answers. */
  readonly shared: boolean
  /** True = answers that set cookies are stored, cookies and all. */
  readonly keepCookies: boolean
  /** Seconds beyond its life that an answer is given while a new one is fetched (RFC 5861 section 3), where the upstream says nothing. */
  readonly staleWhileRevalidateS: number
  /** Seconds beyond its life that an answer is given while the upstream fails (RFC 5861 section 4), where it says nothing. */
  readonly staleIfErrorS: number
}

/** The cache rules of an operation. */
export interface OperationCacheRule {
  /** 0 = the API's. */
  readonly timeoutS: number
  /** Seconds where that is 0 too; 0 = nothing is stored then. */
  readonly defaultS: number
  /** Empty = the API's. */
  readonly statuses: readonly number[]
}
