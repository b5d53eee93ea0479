import { Anchor, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readSeries, readTotal, type UsageRow } from '../../api/traffic/analytics.ts'
import { NO_FILTERS } from '../../api/traffic/dimensions.ts'
import { lastHours } from '../../api/traffic/home.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { Figure } from '../../parts/display/figure.tsx'
import { count, duration, shortCount } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { Hours } from './hours.tsx'

const DAY_HOURS = 24
const AGAIN_MS = 30_000

/** The traffic of the last 24 hours, beside the 24 before. */
export function Today() {
  const numbers = useQuery({
    queryKey: ['usage', 'today'],
    queryFn: async ({ signal }) => {
      const [now, before, hours] = await Promise.all([
        readTotal(lastHours(DAY_HOURS), NO_FILTERS, signal),
        readTotal(lastHours(DAY_HOURS, 1), NO_FILTERS, signal),
        readSeries(lastHours(DAY_HOURS), 'hour', NO_FILTERS, signal),
      ])
      return { now, before, hours: hours.data }
    },
    refetchInterval: AGAIN_MS,
  })
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="today">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="today">
          {say('start.today')}
        </Title>
        <Anchor component={Link} to="/analytics" size="sm">
          {say('start.allAnalytics')}
        </Anchor>
      </Group>
      {numbers.data === undefined ? (
        <>
          <FaultBox error={numbers.error} retry={() => void numbers.refetch()} />
          {numbers.isPending && <Skeleton h={150} />}
        </>
      ) : (
        <Numbers {...numbers.data} />
      )}
    </Card>
  )
}

function Numbers(props: {
  readonly now: UsageRow | null
  readonly before: UsageRow | null
  readonly hours: readonly UsageRow[]
}) {
  const { now, before, hours } = props
  const failed = now === null ? 0 : now.error / Math.max(1, now.hits)
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure
          name={say('start.requests')}
          value={shortCount(now?.hits ?? 0)}
          note={changeOf(now?.hits ?? 0, before?.hits ?? 0)}
        />
        <Figure
          name={say('start.failed')}
          value={percent(failed)}
          note={say('start.failedOf', { failed: count(now?.error ?? 0) })}
          isBad={failed > 0.05}
        />
        <Figure
          name={say('start.p95')}
          value={now === null ? '–' : duration(now.p95)}
          note={before === null ? '' : say('start.p95Before', { time: duration(before.p95) })}
        />
      </SimpleGrid>
      {now === null ? (
        <Text size="sm" c="dimmed">
          {say('start.quiet')}
        </Text>
      ) : (
        <Hours rows={hours} />
      )}
    </Stack>
  )
}

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const percent = (share: number) => PERCENT.format(share)

function changeOf(now: number, before: number): string {
  if (before === 0) return say('start.noneBefore')
  const change = (now - before) / before
  if (Math.abs(change) < 0.005) return say('start.asBefore')
  return say(change > 0 ? 'start.moreThanBefore' : 'start.fewerThanBefore', { share: percent(Math.abs(change)) })
}
