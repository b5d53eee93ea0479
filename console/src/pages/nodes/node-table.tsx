import { Badge, Text, Tooltip } from '@mantine/core'
import { ServerIcon } from 'lucide-react'
import type { GatewayNode } from '../../api/platform/nodes.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { count, When } from '../../parts/display/when.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'

/** Every node that was heard of: what it takes, what it has loaded, when it was last heard of. */
export function NodeTable(props: {
  readonly nodes: readonly GatewayNode[] | undefined
  readonly error: unknown
  readonly retry: () => void
}) {
  return (
    <DataTable
      label={say('nodes.title')}
      columns={COLUMNS}
      rows={props.nodes}
      rowKey={({ id }) => id}
      error={props.error}
      retry={props.retry}
      empty={<Empty icon={ServerIcon} title={say('nodes.empty')} hint={say('nodes.emptyHint')} />}
    />
  )
}

const MIB = 1_048_576

const COLUMNS: readonly Column<GatewayNode>[] = [
  {
    name: 'name',
    title: say('nodes.node'),
    cell: ({ name, hostname }) => (
      <>
        <Text fw={550} size="sm">
          {name || hostname}
        </Text>
        {name !== hostname && (
          <Text size="xs" c="dimmed">
            {hostname}
          </Text>
        )}
      </>
    ),
  },
  { name: 'state', title: say('nodes.state'), cell: (node) => <State node={node} /> },
  { name: 'takes', title: say('nodes.takes'), wideOnly: true, cell: takes },
  {
    name: 'loaded',
    title: say('nodes.loaded'),
    isNumber: true,
    cell: ({ loaded, troubled }) => (
      <>
        {count(loaded)}
        {troubled > 0 && (
          <Text size="xs" c="red">
            {say('nodes.troubled', { count: count(troubled) })}
          </Text>
        )}
      </>
    ),
  },
  { name: 'load', title: say('nodes.load'), isNumber: true, wideOnly: true, cell: loadOf },
  { name: 'version', title: say('nodes.version'), wideOnly: true, cell: ({ version }) => version },
  { name: 'started', title: say('nodes.started'), wideOnly: true, cell: ({ started_at: at }) => <When at={at} /> },
  { name: 'seen', title: say('nodes.seen'), wideOnly: true, cell: ({ last_seen: at }) => <When at={at} /> },
]

function State({ node: { active, behind } }: { readonly node: GatewayNode }) {
  if (!active) return <Badge color="red">{say('nodes.down')}</Badge>
  if (!behind)
    return (
      <Badge variant="light" color="teal">
        {say('nodes.up')}
      </Badge>
    )
  return (
    <Tooltip label={say('nodes.behindHint')}>
      <Badge variant="light" color="yellow">
        {say('nodes.behind')}
      </Badge>
    </Tooltip>
  )
}

function loadOf({ load }: GatewayNode) {
  if (load === undefined) return null
  const busy = say('nodes.busy', { percent: count(Math.round(load.busy * 100)) })
  const mib = count(Math.round(load.memory_bytes / MIB))
  return (
    <Tooltip label={say('nodes.loadHint', { connections: count(load.connections), mib })}>
      <div>
        {say('nodes.perSecond', { count: count(load.requests_per_second) })}
        <Text size="xs" c="dimmed">
          {busy}
        </Text>
      </div>
    </Tooltip>
  )
}

function takes({ management, segmented, tags }: GatewayNode): string {
  if (management) return say('nodes.management')
  if (!segmented) return say('nodes.takesAll')
  return tags.length === 0 ? say('nodes.takesNothing') : say('nodes.takesTags', { tags: tags.join(', ') })
}
