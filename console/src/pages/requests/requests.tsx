import { ActionIcon, Button, Group, SegmentedControl, Text, Tooltip } from '@mantine/core'
import { DownloadIcon, RefreshCwIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { downloadRequests, type RequestFilters } from '../../api/traffic/requests.ts'
import { saveFile } from '../../parts/charts/save-file.ts'
import { readerZone, TimeRange } from '../../parts/charts/time-range.tsx'
import { notifyFault } from '../../parts/display/notify.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { Filters } from './filters.tsx'
import { History } from './history.tsx'
import { Live } from './live.tsx'
import { type SearchWords, useHistory, useSearchWords } from './request-search.ts'

/** Single requests: searched, looked at in full, or followed as they come. */
export default function Requests() {
  if (useMay('log')) return <Search />
  return (
    <>
      <PageHead title={say('requests.title')} />
      <Guarded permission="log">{null}</Guarded>
    </>
  )
}

function Search() {
  const { words, filters, set } = useSearchWords()
  const isLive = words.view === 'live' && filters.request_id === ''
  return (
    <>
      <PageHead title={say('requests.title')} hint={say('requests.hint', { zone: readerZone() })}>
        <SegmentedControl
          size="xs"
          aria-label={say('requests.title')}
          value={isLive ? 'live' : 'history'}
          onChange={(view) => set({ view })}
          data={[
            { value: 'history', label: say('requests.history') },
            { value: 'live', label: say('requests.live') },
          ]}
        />
      </PageHead>
      <Filters filters={filters} set={set} />
      {isLive ? <Live filters={filters} /> : <Past words={words} filters={filters} set={set} />}
    </>
  )
}

function Past(props: {
  readonly words: SearchWords
  readonly filters: RequestFilters
  readonly set: (change: Partial<SearchWords>) => void
}) {
  const { words, filters, set } = props
  const found = useHistory(words, filters)
  const save = async () => {
    try {
      saveFile(await downloadRequests(found.span, filters), 'requests.csv')
    } catch (error) {
      notifyFault(error)
    }
  }
  return (
    <>
      <Group gap="xs" mb="sm">
        {filters.request_id === '' ? (
          <TimeRange words={words} onChange={set} />
        ) : (
          <Text size="sm">{say('requests.anyTime')}</Text>
        )}
        <Tooltip label={say('requests.refresh')}>
          <ActionIcon
            variant="default"
            onClick={found.refresh}
            loading={found.isFetching && !found.isPending}
            aria-label={say('requests.refresh')}
          >
            <RefreshCwIcon size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Button size="xs" variant="default" leftSection={<DownloadIcon size={14} aria-hidden />} onClick={save}>
          {say('requests.file')}
        </Button>
      </Group>
      <History key={filters.request_id} found={found} requestId={filters.request_id} />
    </>
  )
}
