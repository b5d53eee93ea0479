import { Alert, Button, Group, Text } from '@mantine/core'
import { InfoIcon, TextSearchIcon } from 'lucide-react'
import { useState } from 'react'
import { Empty } from '../../parts/display/empty.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { RequestDrawer } from './request-drawer.tsx'
import type { Row, useHistory } from './request-search.ts'
import { RequestTable } from './request-table.tsx'

/** Requests that were, the newest first. */
export function History({ found }: { readonly found: ReturnType<typeof useHistory> }) {
  const [open, setOpen] = useState<Row>()
  const { rows, dropped } = found
  return (
    <>
      {dropped > 0 && (
        <Alert icon={<InfoIcon aria-hidden />} color="yellow" mb="sm">
          {say('requests.dropped', { number: count(dropped) })}
        </Alert>
      )}
      <RequestTable
        rows={rows}
        onOpen={setOpen}
        error={found.error}
        retry={() => void found.refetch()}
        empty={<Empty icon={TextSearchIcon} title={say('requests.emptyTitle')} hint={say('requests.emptyHint')} />}
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
