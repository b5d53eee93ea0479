import { ActionIcon, Anchor, Card, Group, Skeleton, Switch, Text, Title, Tooltip, UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { TextSearchIcon } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Resolution } from '../../api/traffic/analytics.ts'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import { type Column, DataTable } from '../tables/data-table.tsx'
import classes from './chart.module.css'
import type { ChartLine, ChartPoint } from './chart-data.ts'
import { bucketDate, bucketTime } from './chart-labels.ts'
import { nextBucket } from './time-buckets.ts'

const ChartCanvas = lazy(() => import('./chart-canvas.tsx'))

/** Colours that can be read in both themes. */
export const CHART_COLORS = {
  calm: 'light-dark(var(--mantine-color-gate-6), var(--mantine-color-gate-4))',
  bad: 'light-dark(var(--mantine-color-red-7), var(--mantine-color-red-5))',
  before: 'light-dark(var(--mantine-color-gray-6), var(--mantine-color-gray-5))',
  list: [
    'light-dark(var(--mantine-color-gate-6), var(--mantine-color-gate-4))',
    'light-dark(var(--mantine-color-orange-7), var(--mantine-color-orange-4))',
    'light-dark(var(--mantine-color-teal-7), var(--mantine-color-teal-4))',
    'light-dark(var(--mantine-color-grape-7), var(--mantine-color-grape-4))',
    'light-dark(var(--mantine-color-gray-7), var(--mantine-color-gray-4))',
  ],
} as const

/** Dashes of the lines of a chart, in the order of `CHART_COLORS.list`: people who cannot tell the colours apart tell these. */
export const CHART_DASHES = [undefined, '8 4', '2 3', '12 3 2 3', '5 2'] as const
/** The same of the period before. */
export const DASH_BEFORE = '5 4'

interface Props {
  readonly title: string
  readonly points: readonly ChartPoint[] | undefined
  readonly lines: readonly ChartLine[]
  readonly res: Resolution
  readonly format: (value: number) => string
  /** Opens what is behind a bucket. */
  readonly onPoint?: ((at: number) => void) | undefined
  /** Words of the page of single requests for those of a bucket. */
  readonly requestsOf?: ((at: number) => Record<string, string>) | undefined
  readonly height?: number
  readonly error?: unknown
  readonly retry?: () => void
  readonly children?: ReactNode
}

const HEIGHT_PX = 260
const NONE_HIDDEN: ReadonlySet<string> = new Set()
/** More rows than these scroll in their own place. */
const FEW_ROWS = 8

/** Numbers over time, drawn or, for those who read rather than look, as a table. */
export function TimeChart(props: Props) {
  const [isTable, setTable] = useState(false)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(NONE_HIDDEN)
  const { title, points, height = HEIGHT_PX } = props
  return (
    <Card withBorder padding="md" miw={0}>
      <Group justify="space-between" mb="sm" wrap="nowrap" align="flex-start">
        <div>
          <Title order={2} size="h5">
            {title}
          </Title>
          {props.children}
        </div>
        <Switch
          size="xs"
          label={say('analytics.asTable')}
          aria-label={say('analytics.asTableOf', { title })}
          checked={isTable}
          onChange={(event) => setTable(event.currentTarget.checked)}
        />
      </Group>
      {props.error ? (
        <FaultBox error={props.error} {...(props.retry && { retry: props.retry })} />
      ) : points === undefined ? (
        <Skeleton h={height} />
      ) : isTable ? (
        <PointTable {...props} points={points} />
      ) : (
        <>
          <Suspense fallback={<Skeleton h={height} />}>
            <ChartCanvas
              {...props}
              lines={props.lines.filter(({ name }) => !hidden.has(name))}
              points={points}
              height={height}
              onPoint={props.onPoint}
              openFrom={openBucket(points, props.res)}
            />
          </Suspense>
          <Legend title={title} lines={props.lines} hidden={hidden} onChange={setHidden} />
        </>
      )}
    </Card>
  )
}

/** The last bucket, where its time is not over. */
function openBucket(points: readonly ChartPoint[], res: Resolution): number | undefined {
  const last = points.at(-1)?.at
  return last !== undefined && nextBucket(last, res) > Date.now() ? last : undefined
}

/** Which line is which, by colour and by dashes; each is a switch for its line. */
function Legend(props: {
  readonly title: string
  readonly lines: readonly ChartLine[]
  readonly hidden: ReadonlySet<string>
  readonly onChange: (hidden: ReadonlySet<string>) => void
}) {
  const { lines, hidden, onChange } = props
  return (
    <Group gap="md" mt="xs" justify="center" role="group" aria-label={say('analytics.legend', { title: props.title })}>
      {lines.map(({ name, label, color, dash }) => (
        <UnstyledButton
          key={name}
          role="switch"
          aria-checked={!hidden.has(name)}
          onClick={() => onChange(toggled(hidden, name))}
          title={say(hidden.has(name) ? 'analytics.showLine' : 'analytics.hideLine')}
        >
          <Group gap={6} wrap="nowrap" miw={0}>
            <svg width={24} height={8} aria-hidden style={{ flexShrink: 0 }}>
              <line x1={0} x2={24} y1={4} y2={4} strokeWidth={3} strokeDasharray={dash} style={{ stroke: color }} />
            </svg>
            <Text size="xs" className="wrap-anywhere" dir="auto" td={hidden.has(name) ? 'line-through' : undefined}>
              {label}
            </Text>
          </Group>
        </UnstyledButton>
      ))}
    </Group>
  )
}

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name)) next.add(name)
  return next
}

/** The single requests of a bucket. */
function RequestsLink({ words, label }: { readonly words: Record<string, string>; readonly label: string }) {
  return (
    <Tooltip label={say('analytics.single')}>
      <ActionIcon
        variant="subtle"
        size="sm"
        aria-label={label}
        component={Link}
        {...{ to: '/requests', search: words as never }}
      >
        <TextSearchIcon size={14} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function PointTable({
  title,
  points,
  lines,
  res,
  format,
  onPoint,
  requestsOf,
}: Props & { readonly points: readonly ChartPoint[] }) {
  const columns: readonly Column<ChartPoint>[] = [
    {
      name: 'at',
      title: say('analytics.time'),
      cell: ({ at }) =>
        onPoint === undefined ? (
          bucketDate(at, res)
        ) : (
          <Anchor
            component="button"
            type="button"
            size="sm"
            className={classes.time ?? ''}
            title={bucketTime(at, res)}
            onClick={() => onPoint(at)}
          >
            {bucketDate(at, res)}
          </Anchor>
        ),
    },
    ...lines.map(
      ({ name, label }): Column<ChartPoint> => ({
        name,
        title: label,
        isNumber: true,
        cell: (point) => (point[name] === null || point[name] === undefined ? '–' : format(point[name])),
      }),
    ),
    ...(requestsOf === undefined
      ? []
      : [
          {
            name: 'requests',
            title: say('analytics.single'),
            isTitleHidden: true,
            width: 40,
            cell: ({ at }: ChartPoint) => (
              <RequestsLink words={requestsOf(at)} label={say('analytics.singleOf', { name: bucketTime(at, res) })} />
            ),
          },
        ]),
  ]
  return (
    <DataTable
      label={title}
      columns={columns}
      rows={[...points].reverse()}
      rowKey={({ at }) => String(at)}
      drawAll={FEW_ROWS}
      empty={<Text size="sm">{say('analytics.nothing')}</Text>}
    />
  )
}
