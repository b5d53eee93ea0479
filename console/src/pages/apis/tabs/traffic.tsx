import { Button, Group, SegmentedControl } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { ChartLineIcon, TextSearchIcon } from 'lucide-react'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { bucketSpan } from '../../../parts/charts/time-buckets.ts'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { say } from '../../../texts/say.ts'
import { type AnalyticsState, requestWords, useAnalyticsState } from '../../analytics/analytics-state.ts'
import { Charts } from '../../analytics/charts.tsx'
import { Figures } from '../../analytics/figures.tsx'

/** The numbers of an API today and in the last week. */
export default function TrafficTab({ api }: { readonly api: ApiView }) {
  return (
    <Guarded permission="analytics">
      <Traffic api={api} />
    </Guarded>
  )
}

function Traffic({ api }: { readonly api: ApiView }) {
  const scene = useApiScene(api.id)
  const maySeeRequests = useMay('log')
  const { range } = scene.words
  return (
    <>
      <Group justify="space-between" mb="md">
        <SegmentedControl
          size="xs"
          aria-label={say('traffic.range')}
          value={range === '1h' || range === '7d' ? range : '24h'}
          onChange={(next) => scene.set({ range: next })}
          data={[
            { value: '1h', label: say('traffic.hour') },
            { value: '24h', label: say('traffic.today') },
            { value: '7d', label: say('traffic.week') },
          ]}
        />
        <Group gap="xs">
          {maySeeRequests && (
            <Button
              component={Link}
              to="/requests"
              search={requestWords(scene.span, scene.filters) as never}
              variant="default"
              size="xs"
              leftSection={<TextSearchIcon size={16} aria-hidden />}
            >
              {say('traffic.requests')}
            </Button>
          )}
          <Button
            component={Link}
            to="/analytics"
            search={{ api: api.id, range } as never}
            variant="default"
            size="xs"
            leftSection={<ChartLineIcon size={16} aria-hidden />}
          >
            {say('traffic.more')}
          </Button>
        </Group>
      </Group>
      <Figures scene={scene} />
      <Charts scene={scene} />
    </>
  )
}

/** The scene of the analytics page, of one API alone. */
function useApiScene(apiId: string): AnalyticsState {
  const scene = useAnalyticsState()
  const navigate = useNavigate()
  const filters = { ...scene.filters, api: apiId }
  const wordsOfBucket = (at: number) => requestWords(bucketSpan(at, scene.res, Date.now()), filters)
  return {
    ...scene,
    filters,
    leadsToRequests: true,
    requestsOf: scene.requestsOf && wordsOfBucket,
    closer(at) {
      void navigate({ to: '/requests', search: wordsOfBucket(at) as never })
    },
  }
}
