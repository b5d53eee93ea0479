import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usageByApi } from '../../api/traffic/home.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

const DAY_HOURS = 24
const MOST = 6
const AGAIN_MS = 30_000

/** The APIs with the most refused and failed requests of the last 24 hours. */
export function Failures() {
  const rows = useQuery({
    queryKey: ['usage', 'failures'],
    queryFn: ({ signal }) => usageByApi(DAY_HOURS, signal, '1'),
    refetchInterval: AGAIN_MS,
  })
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="failures">
      <Title order={2} size="h4" id="failures" mb="sm">
        {say('start.failures')}
      </Title>
      <FaultBox error={rows.error} retry={() => void rows.refetch()} />
      {rows.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {say('start.noFailures')}
        </Text>
      )}
      <Stack gap="xs">
        {rows.data?.slice(0, MOST).map(({ id, hits }) => (
          <Group key={id.api_id} justify="space-between" wrap="nowrap" gap="sm">
            <Anchor
              component={Link}
              to="/analytics"
              search={{ api: id.api_id, errors: '1' } as never}
              size="sm"
              lineClamp={1}
              dir="auto"
            >
              {id.api_name || id.api_id || say('start.noApi')}
            </Anchor>
            <Text size="sm" className="number">
              {count(hits)}
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  )
}
