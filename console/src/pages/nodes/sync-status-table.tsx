import { Anchor, Badge, Box, Group, Stack, Switch, Text, Title, Tooltip } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheckIcon, WaypointsIcon } from 'lucide-react'
import {
  type ApiSyncStatus,
  listSyncStatus,
  type NodeSyncStatus,
  SYNC_STATUS_KEY,
  type SyncState,
} from '../../api/platform/nodes.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { Pager } from '../../parts/tables/pager.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { say } from '../../texts/say.ts'
import { useOutOfSync } from './not-served-alert.tsx'
import { NODES_REFRESH_MS } from './refresh-interval.ts'

const ABSENT = { q: '', p: '1', out_of_sync: '' } as const

const COLOURS: Readonly<Record<SyncState, string>> = {
  loaded: 'teal',
  inactive: 'gray',
  elsewhere: 'gray',
  pending: 'blue',
  stale: 'yellow',
  failed: 'red',
  taken: 'red',
  unknown: 'gray',
}

/** The state of each API on each node. */
export function SyncStatusTable() {
  const [{ q, p, out_of_sync: outOfSync }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const onlyOutOfSync = outOfSync === '1'
  const every = useQuery({
    queryKey: [...SYNC_STATUS_KEY, q, page],
    queryFn: ({ signal }) => listSyncStatus({ q, p: page, outOfSync: false }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: NODES_REFRESH_MS,
    enabled: !onlyOutOfSync,
  })
  const found = useOutOfSync(onlyOutOfSync)
  const shown = onlyOutOfSync ? found : every
  return (
    <Stack gap="sm">
      <Box>
        <Title order={2} size="h4">
          {say('nodes.apis')}
        </Title>
        <Text size="sm" c="dimmed">
          {say('nodes.apisHint')}
        </Text>
      </Box>
      <Group justify="space-between">
        <SearchBox
          value={q}
          label={say('nodes.search')}
          onSearch={(text) => set({ q: text, p: '', out_of_sync: '' })}
        />
        <Switch
          label={say('nodes.onlyOutOfSync')}
          checked={onlyOutOfSync}
          onChange={(event) => set({ out_of_sync: event.currentTarget.checked ? '1' : '', q: '', p: '' })}
        />
      </Group>
      <DataTable
        label={say('nodes.apis')}
        columns={COLUMNS}
        rows={shown.data?.apis}
        rowKey={({ api_id: id }) => id}
        error={shown.error}
        retry={() => void shown.refetch()}
        empty={<Nothing q={q} onlyOutOfSync={onlyOutOfSync} />}
      />
      {!onlyOutOfSync && (
        <Pager page={page} pages={every.data?.pages ?? 1} onPage={(next) => set({ p: String(next) })} />
      )}
    </Stack>
  )
}

function Nothing({ q, onlyOutOfSync }: { readonly q: string; readonly onlyOutOfSync: boolean }) {
  if (onlyOutOfSync)
    return <Empty icon={CircleCheckIcon} title={say('nodes.allWell')} hint={say('nodes.allWellHint')} />
  const hint = q === '' ? say('nodes.noApisHint') : say('nodes.noneFound', { q })
  return <Empty icon={WaypointsIcon} title={say('nodes.noApis')} hint={hint} />
}

const COLUMNS: readonly Column<ApiSyncStatus>[] = [
  {
    name: 'name',
    title: say('nodes.api'),
    cell: (api) => (
      <>
        <Anchor
          component={Link}
          to={`/apis/${encodeURIComponent(api.api_id)}`}
          fw={550}
          size="sm"
          dir="auto"
          lineClamp={2}
        >
          {api.name || api.api_id}
        </Anchor>
        <Text size="xs" c="dimmed">
          {say('nodes.stored', { revision: api.revision })}
        </Text>
      </>
    ),
  },
  {
    name: 'tags',
    title: say('nodes.tags'),
    wideOnly: true,
    cell: ({ tags }) => (
      <Group gap={4}>
        {tags.map((tag) => (
          <Badge key={tag} variant="default" size="sm" tt="none">
            {tag}
          </Badge>
        ))}
      </Group>
    ),
  },
  {
    name: 'nodes',
    title: say('nodes.title'),
    cell: ({ nowhere, nodes, revision }) => (
      <Group gap={6}>
        {nowhere && <Badge color="red">{say('nodes.nowhere')}</Badge>}
        {nodes.map((each) => (
          <OnNode key={each.node} status={each} stored={revision} />
        ))}
      </Group>
    ),
  },
]

function OnNode({ status, stored }: { readonly status: NodeSyncStatus; readonly stored: number }) {
  const { node, state, reason, revision } = status
  const note = [reason, revision > 0 && revision !== stored ? say('nodes.revision', { revision }) : '']
  const text = note.filter((one) => one !== '').join(' · ')
  const badge = (
    <Badge variant="light" color={COLOURS[state]} tt="none" maw={260} {...(text !== '' && { tabIndex: 0 })}>
      {node}: {say(`nodes.${state}State`)}
    </Badge>
  )
  if (text === '') return badge
  return (
    <Tooltip label={text} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  )
}
