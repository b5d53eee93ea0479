import { ActionIcon, Anchor, Box, Text, Tooltip } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TextSearchIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { readTotal, USAGE_KEY, type UsageRow } from '../../api/traffic/analytics.ts'
import { count, duration } from '../../parts/display/when.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import classes from './analytics.module.css'
import { type AnalyticsState, requestWords } from './analytics-state.ts'
import { Delta, percent } from './delta.tsx'
import { errorRate } from './figures.tsx'
import { nextDimension, rowFilter, rowHint, rowKey, rowName } from './rows.ts'

/** The columns of the breakdown: names filter, numbers come with their share and their change. */
export function useColumns(
  scene: AnalyticsState,
  rows: readonly UsageRow[],
  total: number,
): readonly Column<UsageRow>[] {
  const maySeeSingle = useMay('log')
  const past = useHitsBefore(scene, rows)
  const { dimension } = scene
  return [
    { name: 'name', title: say(`analytics.by.${dimension}`), cell: (row) => <Name scene={scene} row={row} /> },
    {
      name: 'requests',
      title: say('analytics.requests'),
      sortBy: 'Hits',
      isNumber: true,
      cell: (row) => <Share hits={row.hits} total={total} />,
    },
    ...(scene.before === undefined
      ? []
      : [
          {
            name: 'change',
            title: say('analytics.change'),
            wideOnly: true,
            isNumber: true,
            cell: (row: UsageRow) => {
              const before = past.get(rowKey(row))
              return before === undefined ? null : (
                <Delta now={row.hits} before={before} rise="neither" format={count} />
              )
            },
          },
        ]),
    {
      name: 'errors',
      title: say('analytics.errors'),
      sortBy: 'Errors',
      isNumber: true,
      cell: (row) => <Tooltip label={count(row.error)}>{<span>{percent(errorRate(row))}</span>}</Tooltip>,
    },
    {
      name: 'p95',
      title: say('analytics.p95Short'),
      isNumber: true,
      wideOnly: true,
      cell: (row) => duration(row.p95),
    },
    ...(maySeeSingle
      ? [
          {
            name: 'single',
            title: say('analytics.single'),
            isTitleHidden: true,
            wideOnly: true,
            width: 40,
            cell: (row: UsageRow) => single(scene, row),
          },
        ]
      : []),
  ]
}

function Name({ scene, row }: { readonly scene: AnalyticsState; readonly row: UsageRow }) {
  const { dimension, dimensions, filters, go } = scene
  const name = rowName(dimension, row)
  const hint = rowHint(dimension, row)
  const filter = rowFilter(dimension, row)
  const next = filter && { ...filters, ...filter }
  return (
    <Box maw={dimension === 'client' ? '16rem' : '20rem'}>
      {next === undefined ? (
        <Text size="sm">{name}</Text>
      ) : (
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="left"
          dir="auto"
          className="wrap-anywhere"
          lineClamp={2}
          title={name}
          onClick={() => go({ ...next, by: nextDimension(dimensions, next), page: '', sort: '', order: '' })}
        >
          {name}
        </Anchor>
      )}
      {hint !== '' && (
        <Text size="xs" c="dimmed" className="wrap-anywhere" lineClamp={2} title={hint}>
          {hint}
        </Text>
      )}
    </Box>
  )
}

function Share({ hits, total }: { readonly hits: number; readonly total: number }) {
  const share = total === 0 ? 0 : Math.min(1, hits / total)
  return (
    <Tooltip label={`${say('analytics.share')}: ${percent(share)}`}>
      <Box>
        {count(hits)}
        <div className={classes.bar} aria-hidden>
          <div className={classes.fill} style={{ width: `${share * 100}%` }} />
        </div>
      </Box>
    </Tooltip>
  )
}

function single(scene: AnalyticsState, row: UsageRow) {
  const filter = rowFilter(scene.dimension, row)
  if (filter === undefined) return null
  const label = say('analytics.singleOf', { name: rowName(scene.dimension, row) })
  return (
    <Tooltip label={say('analytics.single')}>
      <ActionIcon
        component={Link}
        variant="subtle"
        color="gray"
        aria-label={label}
        {...{ to: '/requests', search: requestWords(scene.span, { ...scene.filters, ...filter }) as never }}
      >
        <TextSearchIcon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

/** How many requests the rows had in the period before, by row; those that are not known yet are missing. */
function useHitsBefore(scene: AnalyticsState, rows: readonly UsageRow[]): ReadonlyMap<string, number> {
  const { before, filters, dimension } = scene
  const asked = before === undefined ? [] : rows.filter((row) => rowFilter(dimension, row) !== undefined)
  const answers = useQueries({
    queries: asked.map((row) => {
      const own = { ...filters, ...rowFilter(dimension, row) }
      return {
        queryKey: [...USAGE_KEY, 'total', before, own],
        queryFn: async ({ signal }: { signal: AbortSignal }) => readTotal(before!, own, signal),
        staleTime: 300_000,
      }
    }),
  })
  const found = new Map<string, number>()
  for (const [i, row] of asked.entries())
    if (answers[i]?.data !== undefined) found.set(rowKey(row), answers[i].data?.hits ?? 0)
  return found
}
