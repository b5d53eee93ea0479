import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import type { Hit } from '../../model/analytics/hit.ts'
import type { HitSamples } from '../../model/analytics/hit-samples.ts'

/** Which call of a source this is, so that one that got no answer can be repeated without counting twice. */
export interface HitBatch {
  /** A name that nobody else uses, such as random text of the process. */
  readonly source: string
  /** Grows with every batch of the source, from 1. */
  readonly number: number
}

/** Aggregated counts of requests. */
export interface Hits {
  /**
   * The numbers of these sets of dimensions in samples, in their order; they never change. At most some
   * hundred at a time. @throws Fault `store_full`, `store_away`
   */
  number(dimensions: readonly HitDimensions[]): Promise<readonly number[]>
  /**
   * Counts requests one by one, all or none, in the hour of their samples: far cheaper than rows. Durable when it resolves;
   * then `sum` knows of them. The samples are copied before the call returns. Numbers must come from `number`. `batch` and
   * errors as with `add`. @throws Fault `internal` when these are no samples, `store_full`, `store_away`
   */
  append(samples: readonly HitSamples[], batch?: HitBatch): Promise<void>
  /**
   * Adds the rows to what is stored for the same hour, dimensions and status, all or none. Durable when it resolves. The rows
   * are copied before the call returns, at about a microsecond each: hand in some thousand at a time.
   * With a `batch` the call may be repeated: what the store has of a source up to this number is not added again.
   * @throws Fault `store_full` (nothing was added), `store_away` (the rows may be there: repeat the call with the same batch)
   */
  add(rows: readonly Hit[], batch?: HitBatch): Promise<void>
  /** Sums per hour and the dimensions named by `by`: newest hour first, within it the larger count first. */
  sum(query: HitQuery): Hit[] | Promise<Hit[]>
  /**
   * A page of sums over buckets of time, sorted and cut in the store, and the number of all rows. The `hour` of a row is the
   * first one of its bucket, 0 where all time is one bucket; buckets of a minute have `minute` too. Knows of everything acknowledged before the call. Days are added up
   * when hits come in, months when they are over, keys and callers apart from APIs: a month of a thousand APIs, or of a hundred
   * keys among ten thousand, costs some ten milliseconds, a year of all ten thousand some hundred. Never holds the caller up.
   */
  usage(query: UsageQuery & { offset: number; limit: number }): Promise<{ rows: Hit[]; total: number }>
  /** The same rows, all of them, in batches; which ones is settled at the first. */
  eachUsage(query: UsageQuery): AsyncIterable<Hit[]>
  /** True when a request of this key, or client, was counted for the organisation ('' = any), as far back as hits are kept. */
  knows(orgId: string, name: 'keyHash' | 'clientId', value: string): boolean | Promise<boolean>
  /**
   * Forgets the hits of all days before `beforeDay` (days since the Unix epoch, UTC), in rounds that leave room for others, and
   * sets of dimensions that were not counted for two days longer: `number` answers what holds for a day after a row with these
   * dimensions was added. Answers how many rows went. @throws Fault `store_full`, `store_away`
   */
  purgeHits(beforeDay: number): Promise<number>
  /** Forgets the counts of all minutes before one (since the Unix epoch), not those of their hours. Otherwise as `purgeHits`. */
  purgeMinutes(beforeMinute: number): Promise<number>
  /** The minute since the Unix epoch from which on all requests are counted by minute. */
  minutesFrom(): number | Promise<number>
}

/** A dimension of hits that sums can be kept apart by. */
export type HitDimension = keyof HitDimensions | 'status'

export interface HitQuery {
  /** First and last hour, both inclusive. */
  readonly fromHour: number
  readonly toHour: number
  readonly where?: Readonly<Partial<Record<keyof HitDimensions, string>>>
  /** Dimensions to keep apart, all by default. The others are merged and read '' (`status`: 0) in the answer. */
  readonly by?: readonly HitDimension[]
  readonly limit: number
}

/** `tag`: one row for each of the tags of a request, which reads in `tags`. */
export type UsageDimension = HitDimension | 'tag'
/** Buckets of time, UTC; `all` is a single one. */
export type UsagePer = 'minute' | 'hour' | 'day' | 'month' | 'all'
/** Averages of latencies are over the requests that have one. */
export type UsageSort =
  | 'time'
  | 'count'
  | 'success'
  | 'error'
  | 'lastAt'
  | 'totalMs'
  | 'maxTotalMs'
  | 'minTotalMs'
  | 'upstreamMs'
  | 'maxUpstreamMs'
  | 'minUpstreamMs'

/** Everything that is given must match. */
export interface UsageQuery {
  /** Days since the Unix epoch, UTC, both inclusive. */
  readonly fromDay: number
  readonly toDay: number
  /** First and last hour since the Unix epoch, inclusive, where not all of these days are meant. Reads hours, not days. */
  readonly hours?: readonly [from: number, to: number]
  /**
   * First and last minute since the Unix epoch, inclusive, where not whole hours are meant. Only of `MINUTE_DIMENSIONS`, as is
   * `per` minute, and right from `minutesFrom` on.
   */
  readonly minutes?: readonly [from: number, to: number]
  readonly per: UsagePer
  /** Dimensions to keep apart. The others are merged and read '' (`status`: 0). */
  readonly by: readonly UsageDimension[]
  /** Of each the values any one of which will do; an empty list matches nothing. */
  readonly where?: Readonly<Partial<Record<keyof HitDimensions, readonly string[]>>>
  /** Any one of these tags. */
  readonly tags?: readonly string[]
  /** Only tags that begin so, where tags are kept apart. */
  readonly tagPrefix?: string
  readonly status?: readonly number[]
  /** Only statuses from 400 on. */
  readonly errorsOnly?: boolean
  /** Leaves out requests for which this is ''. */
  readonly has?: keyof HitDimensions
  readonly sort: UsageSort
  readonly descending: boolean
}
