import { Badge, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ServerIcon } from 'lucide-react'
import { type ApiView, apiKey } from '../../../api/apis/apis.ts'
import { type NodeSyncStatus, readSyncStatus } from '../../../api/platform/nodes.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'
import { STATE_COLOUR } from '../editor/node-states.tsx'

const POLL_MS = 3000

/** Where an API is loaded: per gateway node, its revision, or why it is not. */
export default function NodesTab({ api }: { readonly api: ApiView }) {
  const status = useQuery({
    queryKey: [...apiKey(api.id), 'nodes'],
    queryFn: ({ signal }) => readSyncStatus(api.id, signal),
    refetchInterval: POLL_MS,
  })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {say('apis.nodesHint', { revision: status.data?.revision ?? '…' })}
      </Text>
      <DataTable
        label={say('apis.nodes')}
        columns={COLUMNS()}
        rows={status.data?.nodes}
        rowKey={({ node }) => node}
        error={status.error}
        retry={() => void status.refetch()}
        empty={<Empty icon={ServerIcon} title={say('apis.noNodes')} hint={say('apis.noNodesHint')} />}
      />
    </Stack>
  )
}

const COLUMNS = (): readonly Column<NodeSyncStatus>[] => [
  { name: 'node', title: say('apis.node'), cell: ({ node }) => node },
  {
    name: 'state',
    title: say('apis.state'),
    cell: ({ state }) => (
      <Badge variant="light" color={STATE_COLOUR[state]!} c="var(--mantine-color-text)" tt="none">
        {say(`apis.nodeState.${state}`)}
      </Badge>
    ),
  },
  {
    ...{ name: 'revision', title: say('apis.revision'), isNumber: true },
    cell: ({ revision }) => (revision === 0 ? '–' : revision),
  },
  { name: 'reason', title: say('apis.reason'), cell: ({ reason, state }) => reason || say(`apis.nodeWhy.${state}`) },
]
