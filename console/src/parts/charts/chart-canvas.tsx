import '@mantine/charts/styles.css'
import { CompositeChart } from '@mantine/charts'
import type { Resolution } from '../../api/traffic/analytics.ts'
import { say } from '../../texts/say.ts'
import type { ChartLine, ChartPoint } from './chart-data.ts'
import { bucketName, bucketTime } from './chart-labels.ts'

const TICK_GAP_PX = 36
const AXIS_PX = 64
const FEW_POINTS = 3

/** The drawing itself; `TimeChart` loads it. */
export default function ChartCanvas(props: {
  readonly points: readonly ChartPoint[]
  readonly lines: readonly ChartLine[]
  readonly res: Resolution
  readonly height: number
  readonly format: (value: number) => string
  readonly onPoint: ((at: number) => void) | undefined
  /** The beginning of the bucket that is still being counted. */
  readonly openFrom: number | undefined
}) {
  const { points, res, onPoint } = props
  const lengthMs = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)
  // A line from one point to another would say something of the time between them.
  const isShort = points.length <= FEW_POINTS
  const choose = ({ activeTooltipIndex }: { readonly activeTooltipIndex?: unknown }) => {
    const point = points[Number(activeTooltipIndex ?? Number.NaN)]
    if (point !== undefined) onPoint?.(point.at)
  }
  return (
    <CompositeChart
      h={props.height}
      data={[...points]}
      dataKey="at"
      series={props.lines.map(({ name, label, color, kind, dash }) => ({
        ...{ name, label, color, type: isShort ? 'bar' : kind },
        ...(dash !== undefined && { strokeDasharray: dash }),
      }))}
      // Between two counts nothing is known: a curve would rise above both.
      curveType="linear"
      // A lone point has no line that would show it.
      withDots={props.lines.some(({ name }) => points.some((_, i) => isAlone(points, i, name)))}
      dotProps={{ r: 2, strokeWidth: 1 }}
      maxBarWidth={48}
      strokeWidth={1.75}
      textColor="dimmed"
      valueFormatter={props.format}
      xAxisProps={{
        tickFormatter: (at: number) => bucketName(at, res, lengthMs),
        minTickGap: TICK_GAP_PX,
        interval: isShort ? 0 : 'equidistantPreserveStart',
      }}
      yAxisProps={{ width: AXIS_PX, domain: [0, 'auto'], allowDecimals: false }}
      tooltipProps={{ labelFormatter: (at) => (typeof at === 'number' ? bucketTime(at, res) : '') }}
      {...(props.openFrom !== undefined && {
        referenceLines: [{ x: props.openFrom, label: say('analytics.inProgress'), labelPosition: 'insideTopRight' }],
      })}
      {...(onPoint && { composedChartProps: { onClick: choose, style: { cursor: 'pointer' } } })}
    />
  )
}

function isAlone(points: readonly ChartPoint[], i: number, name: string): boolean {
  const [before, here, after] = [points[i - 1]?.[name], points[i]?.[name], points[i + 1]?.[name]]
  return typeof here === 'number' && typeof before !== 'number' && typeof after !== 'number'
}
