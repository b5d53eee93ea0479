import { Alert, Button, Group, SegmentedControl, Text } from '@mantine/core'
import { DownloadIcon, InfoIcon } from 'lucide-react'
import { useMay, useSession } from '../../api/people/session.ts'
import { downloadSeries, type Resolution } from '../../api/traffic/analytics.ts'
import { saveFile } from '../../parts/charts/save-file.ts'
import { readerZone, TimeRange } from '../../parts/charts/time-range.tsx'
import { notifyFault } from '../../parts/display/notify.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say, type TextName } from '../../texts/say.ts'
import { type AnalyticsState, seesOwnAlone, useAnalyticsState } from './analytics-state.ts'
import { Breakdown } from './breakdown.tsx'
import { Charts } from './charts.tsx'
import { Figures } from './figures.tsx'
import { Filters } from './filters.tsx'

/** Counts of all requests: over time, grouped, compared with the previous period. */
export default function Analytics() {
  if (useMay('analytics')) return <Numbers />
  return (
    <>
      <PageHead title={say('analytics.title')} />
      <Guarded permission="analytics">{null}</Guarded>
    </>
  )
}

function Numbers() {
  const scene = useAnalyticsState()
  const isOwnAlone = seesOwnAlone(useSession())
  const { words, set, span, res, filters } = scene
  const save = async () => {
    try {
      saveFile(await downloadSeries(span, res, filters), 'analytics.csv')
    } catch (error) {
      notifyFault(error)
    }
  }
  return (
    <>
      <PageHead title={say('analytics.title')} hint={say('analytics.hint', { zone: readerZone() })} />
      <Group gap="xs" mb="sm">
        <TimeRange words={words} onChange={(time) => set({ ...time, page: '' })} />
        {words.range !== 'custom' && (
          <SegmentedControl
            size="xs"
            aria-label={say('analytics.refresh')}
            value={words.refresh}
            onChange={(refresh) => set({ refresh })}
            data={[
              { value: '10', label: say('analytics.refresh.10') },
              { value: '60', label: say('analytics.refresh.60') },
              { value: 'off', label: say('analytics.refresh.off') },
            ]}
          />
        )}
        <Button size="xs" variant="default" leftSection={<DownloadIcon size={14} aria-hidden />} onClick={save}>
          {say('analytics.csvSeries')}
        </Button>
      </Group>
      {isOwnAlone && (
        <Alert icon={<InfoIcon aria-hidden />} mb="md">
          {say('analytics.owned')}
        </Alert>
      )}
      <Filters scene={scene} />
      <Figures scene={scene} />
      <Charts scene={scene} />
      <Breakdown scene={scene} />
      <CountedBy scene={scene} />
    </>
  )
}

const MOMENTS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The time that the numbers are of: with a filter that is counted by hour, more than was chosen. */
function CountedBy({ scene: { span, res, isWidened } }: { readonly scene: AnalyticsState }) {
  const time = MOMENTS.formatRange(span.fromMs, span.toMs)
  const text: Readonly<Record<Resolution, TextName>> = {
    ...{ minute: 'analytics.byMinute', hour: isWidened ? 'analytics.wholeHours' : 'analytics.byHour' },
    ...{ day: 'analytics.byDay', month: 'analytics.byMonth' },
  }
  return (
    <Text size="xs" c="dimmed" mt="sm">
      {say(text[res], { time })}
    </Text>
  )
}
