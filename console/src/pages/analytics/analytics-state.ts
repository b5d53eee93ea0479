import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { CallError } from '../../api/calls/call.ts'
import { mayDo, type Session, useSession } from '../../api/people/session.ts'
import { type Resolution, readSeries, type Span } from '../../api/traffic/analytics.ts'
import {
  DIMENSION_NAMES,
  type Dimension,
  dimensionRow,
  NO_FILTERS,
  OPEN_KEY,
  type UsageFilters,
} from '../../api/traffic/dimensions.ts'
import { useAddress } from '../../app/address.ts'
import {
  type Buckets,
  bucketSpan,
  bucketsOf,
  minutesAfter,
  spanBefore,
  wordsOf,
} from '../../parts/charts/time-buckets.ts'

const ABSENT = {
  ...{
    range: '24h',
    from: '',
    to: '',
    compare: 'yes',
    refresh: '60',
    by: 'api',
    sort: 'Hits',
    order: 'down',
    page: '1',
  },
  ...NO_FILTERS,
}

export type AnalyticsParams = Readonly<Record<keyof typeof ABSENT, string>>

/** The state of the page, from its address. */
export interface AnalyticsState {
  readonly words: AnalyticsParams
  readonly filters: UsageFilters
  readonly span: Span
  readonly res: Resolution
  /** True when the time is longer than the chosen one, in whole hours. */
  readonly isWidened: boolean
  /** The same time in whole hours, for requests that are counted by hour alone. */
  readonly whole: Buckets
  /** The period that is compared with; undefined when none is. */
  readonly before: Span | undefined
  readonly dimension: Dimension
  /** The buckets of a time. One that the dashboard has not counted by minute is shown in hours from then on. @throws CallError */
  readonly readBuckets: typeof readSeries
  /** The dimensions that the user may use. */
  readonly dimensions: readonly Dimension[]
  /** How often the numbers are read again; undefined = not by themselves. */
  readonly refreshMs: number | undefined
  /** Changes the address in its place. */
  set(change: Partial<AnalyticsParams>): void
  /** The same as a step that the back button takes back. */
  go(change: Partial<AnalyticsParams>): void
  /** Looks closer at a bucket: by smaller buckets, or where there are none, at its single requests, for those who may see them. */
  readonly closer: ((at: number) => void) | undefined
  /** True where these are single requests. */
  readonly leadsToRequests: boolean
  /** The requests of a bucket, as words of the page of single requests; undefined for those who may not see them. */
  readonly requestsOf: ((at: number) => Record<string, string>) | undefined
}

const MINUTE_MS = 60_000
/** No request is counted by minute. */
const NEVER = Number.POSITIVE_INFINITY
/** How often a time that moves on is read again, by the words of the address; other words turn it off. */
const REFRESHES_MS: Readonly<Record<string, number | undefined>> = { 10: 10_000, 60: MINUTE_MS, off: undefined }

/** Reads the address of the page and what follows from it. */
export function useAnalyticsState(): AnalyticsState {
  const [words, set] = useAddress(ABSENT)
  const navigate = useNavigate()
  const refreshMs = words.range === 'custom' ? undefined : REFRESHES_MS[words.refresh]
  const nowMs = useNow(words.range, refreshMs !== undefined)
  const session = useSession()
  const { range, from, to } = words
  const minute = Math.floor(nowMs / MINUTE_MS)
  const dimensions = seenDimensions(session)
  const filters = filtersOf(words, dimensions)
  const byHour = DIMENSION_NAMES.some((name) => filters[name] !== '' && dimensionRow(name).isByHour === true)
  const whole = useMemo(() => bucketsOf({ range, from, to }, minute * MINUTE_MS, NEVER), [range, from, to, minute])
  const [minutesFromMs, setMinutesFrom] = useState(0)
  const exact = useMemo(
    () => bucketsOf({ range, from, to }, minute * MINUTE_MS, minutesFromMs),
    [range, from, to, minute, minutesFromMs],
  )
  const go = useCallback(
    (change: Partial<AnalyticsParams>) => {
      const next = (old: Readonly<Record<string, string>>) => kept({ ...old, ...change })
      void navigate({ to: '.', search: next as never })
    },
    [navigate],
  )
  const { span, res } = byHour ? whole : exact
  const smallestFromMs = byHour ? NEVER : minutesFromMs
  const readBuckets: AnalyticsState['readBuckets'] = async (of, per, own, signal) => {
    try {
      return await readSeries(of, per, own, signal)
    } catch (error) {
      const isMissing = per === 'minute' && error instanceof CallError && error.status === 400
      if (isMissing) setMinutesFrom((old) => Math.max(old, minutesAfter(of)))
      throw error
    }
  }
  const closer = (at: number) => {
    const bucket = bucketSpan(at, res, Date.now())
    if (smallerThan(res, bucket, smallestFromMs)) return go({ ...wordsOf(bucket), page: '1' })
    void navigate({ to: '/requests', search: requestWords(bucket, filters) as never })
  }
  return {
    ...{ words, filters, span, res, whole, set, go, dimensions, readBuckets },
    isWidened: byHour && !isSameSpan(whole.span, exact.span),
    before: words.compare === 'yes' ? spanBefore(span, res) : undefined,
    dimension: dimensions.find((name) => name === words.by) ?? 'api',
    refreshMs,
    closer: (res === 'hour' || res === 'minute') && !mayDo(session, 'log', 'read') ? undefined : closer,
    leadsToRequests: !smallerThan(res, { fromMs: span.toMs - MINUTE_MS, toMs: span.toMs }, smallestFromMs),
    requestsOf: mayDo(session, 'log', 'read')
      ? (at) => requestWords(bucketSpan(at, res, Date.now()), filters)
      : undefined,
  }
}

/** True where a bucket can be shown in smaller ones. */
function smallerThan(res: Resolution, bucket: Span, minutesFromMs: number): boolean {
  return bucketsOf(wordsOf(bucket), Date.now(), minutesFromMs).res !== res
}

/** True for times with the same ends. */
export function isSameSpan(a: Span, b: Span): boolean {
  return a.fromMs === b.fromMs && a.toMs === b.toMs
}

function kept(words: Readonly<Record<string, string>>): Record<string, string> {
  const absent: Readonly<Record<string, string>> = ABSENT
  return Object.fromEntries(Object.entries(words).filter(([name, value]) => value !== '' && value !== absent[name]))
}

/** True for users who may see only the analytics of their own APIs. */
export function seesOwnAlone({ user }: Session): boolean {
  return !user.is_admin && user.permissions.analytics === 'read' && user.permissions.owned_analytics === 'owned'
}

function seenDimensions(session: Session): readonly Dimension[] {
  return DIMENSION_NAMES.filter((name) => !(seesOwnAlone(session) && dimensionRow(name).isBeyondApis))
}

/** Filters that the user may not use are dropped, as the address may come from another user. */
function filtersOf(words: AnalyticsParams, dimensions: readonly Dimension[]): UsageFilters {
  const names = Object.keys(NO_FILTERS) as (keyof UsageFilters)[]
  const may = (name: keyof UsageFilters) => name === 'errors' || dimensions.includes(name)
  return Object.fromEntries(names.map((name) => [name, may(name) ? words[name] : ''])) as unknown as UsageFilters
}

/** The same time and filters in the words of the page of single requests, as far as it knows them. */
export function requestWords(span: Span, filters: UsageFilters): Record<string, string> {
  const [method = '', path = ''] = filters.endpoint.split(' ')
  const words = {
    ...wordsOf(span),
    ...{ api: filters.api, client: filters.client, status: filters.status, errors: filters.errors, method },
    // The value of `{id}` differs from request to request.
    path: path.split('{')[0] ?? '',
    key: filters.key === OPEN_KEY ? '' : filters.key,
    tag: filters.developer === '' ? filters.tag : `dev-${filters.developer}`,
  }
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== ''))
}

/** The present minute; while the page is not refreshed, that in which its time was chosen. */
function useNow(range: string, isMoving: boolean): number {
  const [now, setNow] = useState(Date.now)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a relative time ends when it is chosen
  useEffect(() => {
    setNow(Date.now())
    if (!isMoving) return undefined
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS)
    return () => clearInterval(timer)
  }, [range, isMoving])
  return now
}
