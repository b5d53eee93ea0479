import { SimpleGrid, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { bucketStart, type Span, USAGE_KEY, type UsageRow } from '../../api/traffic/analytics.ts'
import { CHART_COLORS, CHART_DASHES, DASH_BEFORE, TimeChart } from '../../parts/charts/chart.tsx'
import type { ChartLine, ChartPoint } from '../../parts/charts/chart-data.ts'
import { bucketStarts } from '../../parts/charts/time-buckets.ts'
import { duration, shortCount } from '../../parts/display/when.tsx'
import { say, type TextName } from '../../texts/say.ts'
import type { AnalyticsState } from './analytics-state.ts'

/** Requests, errors and latency over time, with the period before as dashed lines. */
export function Charts({ scene }: { readonly scene: AnalyticsState }) {
  const now = useSeries(scene, scene.span)
  const before = useSeries(scene, scene.before)
  const points = now.data && pointsOf(scene, now.data.data, before.data?.data)
  const compared = scene.before !== undefined
  const common = {
    ...{
      points,
      res: scene.res,
      error: now.error,
      retry: () => void now.refetch(),
      onPoint: scene.closer,
      requestsOf: scene.requestsOf,
    },
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" mb="md">
      <TimeChart {...common} title={say('analytics.traffic')} lines={trafficLines(compared)} format={shortCount}>
        <Text size="xs" c="dimmed">
          {scene.closer && say(scene.leadsToRequests ? 'analytics.chooseRequestsHint' : 'analytics.chooseHint')}
        </Text>
      </TimeChart>
      <TimeChart {...common} title={say('analytics.latency')} lines={latencyLines(compared)} format={duration}>
        <Text size="xs" c="dimmed">
          {say('analytics.latencyHint')}
        </Text>
      </TimeChart>
    </SimpleGrid>
  )
}

/** The buckets of a time. Nothing is read without one. */
function useSeries({ res, filters, refreshMs, readBuckets }: AnalyticsState, span: Span | undefined) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'series', span, res, filters],
    queryFn: ({ signal }) => readBuckets(span!, res, filters, signal),
    enabled: span !== undefined,
    placeholderData: keepPreviousData,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  })
}

/** A point for every bucket: those without a request have a count of zero and no latency. */
function pointsOf(
  { span, before, res }: AnalyticsState,
  rows: readonly UsageRow[],
  rowsBefore: readonly UsageRow[] | undefined,
): readonly ChartPoint[] {
  const found = new Map(rows.map((row) => [bucketStart(row), row]))
  const foundBefore = new Map((rowsBefore ?? []).map((row) => [bucketStart(row), row]))
  const starts = before === undefined ? [] : bucketStarts(before, res)
  return bucketStarts(span, res).map((at, i) => {
    const row = found.get(at)
    const past = foundBefore.get(starts[i] ?? Number.NaN)
    return {
      ...{ at, requests: row?.hits ?? 0, errors: row?.error ?? 0, p50: row?.p50 ?? null, p95: row?.p95 ?? null },
      ...{ p99: row?.p99 ?? null, requestsBefore: past?.hits ?? 0, errorsBefore: past?.error ?? 0 },
      p95Before: past?.p95 ?? null,
    }
  })
}

function line(name: string, text: TextName, color: string, kind: ChartLine['kind'], dash?: string): ChartLine {
  return { name, label: say(text), color, kind, ...(dash !== undefined && { dash }) }
}

/** The same in the period before. */
function past(name: string, text: TextName, color: string): ChartLine {
  return { name, label: say('analytics.before', { name: say(text) }), color, kind: 'line', dash: DASH_BEFORE }
}

function trafficLines(compared: boolean): readonly ChartLine[] {
  return [
    line('requests', 'analytics.requests', CHART_COLORS.calm, 'area'),
    line('errors', 'analytics.errors', CHART_COLORS.bad, 'area', CHART_DASHES[1]),
    ...(compared ? [past('requestsBefore', 'analytics.requests', CHART_COLORS.before)] : []),
  ]
}

function latencyLines(compared: boolean): readonly ChartLine[] {
  const [first, second, third] = CHART_COLORS.list
  return [
    line('p50', 'analytics.p50Short', first, 'line'),
    line('p95', 'analytics.p95Short', second, 'line', CHART_DASHES[1]),
    line('p99', 'analytics.p99Short', CHART_COLORS.list[3] ?? third, 'line', CHART_DASHES[2]),
    ...(compared ? [past('p95Before', 'analytics.p95Short', CHART_COLORS.before)] : []),
  ]
}
