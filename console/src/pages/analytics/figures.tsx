import { Card, Group, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { readTotal, type Span, USAGE_KEY, type UsageRow } from '../../api/traffic/analytics.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { count, duration, shortCount } from '../../parts/display/when.tsx'
import { say, type TextName } from '../../texts/say.ts'
import type { AnalyticsState } from './analytics-state.ts'
import { Delta, percent } from './delta.tsx'

interface Figure {
  readonly title: TextName
  readonly value: (row: UsageRow | null) => number
  readonly format: (value: number) => string
  readonly rise: 'bad' | 'neither'
  /** Without a request there is none. */
  readonly isTime?: true
}

/** The share of requests that failed, 0 without any. */
export function errorRate(row: Pick<UsageRow, 'error' | 'hits'> | null | undefined): number {
  return row === null || row === undefined || row.hits === 0 ? 0 : row.error / row.hits
}

const FIGURES: readonly Figure[] = [
  { title: 'analytics.requests', value: (row) => row?.hits ?? 0, format: shortCount, rise: 'neither' },
  { title: 'analytics.errorRate', value: errorRate, format: percent, rise: 'bad' },
  { title: 'analytics.median', value: (row) => row?.p50 ?? 0, format: duration, rise: 'bad', isTime: true },
  { title: 'analytics.p95', value: (row) => row?.p95 ?? 0, format: duration, rise: 'bad', isTime: true },
]

/** All requests of the time in four numbers, each with how it has changed. */
export function Figures({ scene }: { readonly scene: AnalyticsState }) {
  const now = useTotal(scene, scene.span)
  const before = useTotal(scene, scene.before)
  if (now.error) return <FaultBox error={now.error} retry={() => void now.refetch()} />
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" mb="md">
      {FIGURES.map(({ title, value, format, rise, isTime }) => (
        <Card withBorder padding="sm" key={title} component="section" aria-label={say(title)}>
          <Text size="xs" c="dimmed">
            {say(title)}
          </Text>
          {now.data === undefined ? (
            <Skeleton h={30} w="60%" mt={4} />
          ) : (
            <Group gap="xs" align="baseline">
              <Text fz={24} fw={650} lh={1.3} title={count(value(now.data))}>
                {now.data === null && isTime ? '–' : format(value(now.data))}
              </Text>
              {before.data !== undefined && now.data !== null && scene.before !== undefined && (
                <Delta now={value(now.data)} before={value(before.data)} rise={rise} format={format} />
              )}
            </Group>
          )}
        </Card>
      ))}
    </SimpleGrid>
  )
}

/** All requests of a time as one row; null when there were none. Nothing is read without a time. */
export function useTotal({ filters, refreshMs }: AnalyticsState, span: Span | undefined) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'total', span, filters],
    queryFn: ({ signal }) => readTotal(span!, filters, signal),
    enabled: span !== undefined,
    placeholderData: keepPreviousData,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  })
}
