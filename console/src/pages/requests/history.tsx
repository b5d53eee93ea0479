import { Alert, Button, Group, Text } from '@mantine/core'
import { InfoIcon, TextSearchIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Empty } from '../../parts/display/empty.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { RequestDrawer } from './request-drawer.tsx'
import type { Row, useHistory } from './request-search.ts'
import { RequestTable } from './request-table.tsx'

interface Props {
  readonly found: ReturnType<typeof useHistory>
  /** Of the one request that is looked for; '' = all of a time are. */
  readonly requestId: string
}

/** Requests that were, the newest first; one that is looked for by its id opens. */
export function History({ found, requestId }: Props) {
  const [open, setOpen] = useState<Row>()
  const { rows, dropped } = found
  const only = requestId === '' || found.isPlaceholderData || rows?.length !== 1 ? undefined : rows[0]
  useEffect(() => setOpen(only), [only])
  return (
    <>
      {dropped > 0 && requestId === '' && (
        <Alert icon={<InfoIcon aria-hidden />} color="yellow" mb="sm">
          {say('requests.dropped', { number: count(dropped) })}
        </Alert>
      )}
      <RequestTable
        rows={rows}
        onOpen={setOpen}
        error={found.error}
        retry={() => void found.refetch()}
        empty={<Nothing found={found} requestId={requestId} />}
      />
      {rows !== undefined && rows.length > 0 && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" c="dimmed">
            {say(found.hasNextPage ? 'requests.shownOf' : 'requests.shown', { shown: count(rows.length) })}
          </Text>
          {found.hasNextPage && (
            <Button
              size="xs"
              variant="default"
              loading={found.isFetchingNextPage}
              onClick={() => void found.fetchNextPage()}
            >
              {say('requests.loadMore')}
            </Button>
          )}
        </Group>
      )}
      <RequestDrawer record={open?.record} isLive={false} onClose={() => setOpen(undefined)} />
    </>
  )
}

/** Nothing was found, and why that may be. */
function Nothing({ found: { kept }, requestId }: Props) {
  if (requestId === '')
    return <Empty icon={TextSearchIcon} title={say('requests.emptyTitle')} hint={say('requests.emptyHint')} />
  const isOff = kept !== undefined && kept.days === 0
  const hint = isOff
    ? say('requests.recordingOff')
    : say('requests.expired', { days: count(kept?.days ?? 0), number: count(kept?.count ?? 0) })
  return <Empty icon={TextSearchIcon} title={say('requests.noSuchId', { id: requestId })} hint={hint} />
}
