import { useQueries } from '@tanstack/react-query'
import { bucketStart, USAGE_KEY, type UsageRow } from '../../api/traffic/analytics.ts'
import { CHART_COLORS, CHART_DASHES, TimeChart } from '../../parts/charts/chart.tsx'
import type { ChartPoint } from '../../parts/charts/chart-data.ts'
import { bucketStarts } from '../../parts/charts/time-buckets.ts'
import { shortCount } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import type { AnalyticsState } from './analytics-state.ts'
import { rowFilter, rowHint, rowName } from './rows.ts'

const MOST_LABEL = 28

/** The first rows of a table over time. */
export function TopChart({ scene, rows }: { readonly scene: AnalyticsState; readonly rows: readonly UsageRow[] }) {
  const { dimension, filters, span, res } = scene
  const top = rows.filter((row) => rowFilter(dimension, row) !== undefined).slice(0, CHART_COLORS.list.length)
  const series = useQueries({
    queries: top.map((row) => {
      const own = { ...filters, ...rowFilter(dimension, row) }
      return {
        queryKey: [...USAGE_KEY, 'series', span, res, own],
        queryFn: ({ signal }: { signal: AbortSignal }) => scene.readBuckets(span, res, own, signal),
      }
    }),
  })
  if (top.length === 0) return null
  const isPending = series.some(({ isPending: waits }) => waits)
  const found = series.map(({ data }) => new Map(data?.data.map((row) => [bucketStart(row), row.hits])))
  const points = bucketStarts(span, res).map((at): ChartPoint => {
    return { at, ...Object.fromEntries(found.map((hits, i) => [`s${i}`, hits.get(at) ?? 0])) }
  })
  return (
    <TimeChart
      title={top.length === 1 ? say('analytics.overTime') : say('analytics.topOverTime', { number: top.length })}
      points={isPending ? undefined : points}
      lines={top.map((row, i) => ({
        name: `s${i}`,
        label: shortened(
          dimension === 'endpoint'
            ? `${rowName(dimension, row)} · ${rowHint(dimension, row)}`
            : rowName(dimension, row),
        ),
        color: CHART_COLORS.list[i]!,
        kind: 'line',
        ...(CHART_DASHES[i] !== undefined && { dash: CHART_DASHES[i] }),
      }))}
      res={res}
      format={shortCount}
      onPoint={scene.closer}
      requestsOf={scene.requestsOf}
      error={series.find(({ error }) => error)?.error}
      height={300}
    />
  )
}

/** Cut between characters as people see them, so that no emoji is halved. */
function shortened(name: string): string {
  const characters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment)
  return characters.length <= MOST_LABEL ? name : `${characters.slice(0, MOST_LABEL).join('')}…`
}
