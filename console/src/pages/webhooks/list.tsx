import { Anchor, Badge, Button, Code, Group, Modal } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PlusIcon, WebhookIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { createWebhook, listWebhooks, WEBHOOKS_KEY, type Webhook, webhookQueue } from '../../api/platform/webhooks.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { say } from '../../texts/say.ts'
import { webhookFields, webhookIn, webhookValues } from './webhook-fields.ts'

const ABSENT = { p: '1', new: '' } as const

/** Webhooks of the organisation. */
export default function Webhooks() {
  return (
    <>
      <PageHead title={say('webhooks.title')} hint={say('webhooks.hint')}>
        <NewWebhook />
      </PageHead>
      <Guarded permission="hooks">
        <List />
        <NewWebhookDialog />
      </Guarded>
    </>
  )
}

function NewWebhook() {
  const [, set] = useAddress(ABSENT)
  if (!useMay('hooks', 'write')) return null
  return (
    <Button leftSection={<PlusIcon size={16} aria-hidden />} onClick={() => set({ new: '1' })}>
      {say('webhooks.new')}
    </Button>
  )
}

/** Opened by a word of the address, so that it can be begun from anywhere. */
function NewWebhookDialog() {
  const [words, set] = useAddress(ABSENT)
  const client = useQueryClient()
  const may = useMay('hooks', 'write')
  const close = () => set({ new: '' })
  return (
    <Modal opened={may && words.new === '1'} onClose={close} title={say('webhooks.new')} size="lg">
      <RecordForm
        fields={webhookFields(true)}
        initial={webhookValues(undefined)}
        verb={say('webhooks.new')}
        done={say('webhooks.made')}
        submit={(values) => createWebhook(webhookIn(values))}
        onDone={async () => {
          close()
          await client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
        }}
        onCancel={close}
      />
    </Modal>
  )
}

function List() {
  const [{ p }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const hooks = useQuery({
    queryKey: [...WEBHOOKS_KEY, 'list', page],
    queryFn: ({ signal }) => listWebhooks(page, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <PagedTable
      label={say('webhooks.title')}
      columns={COLUMNS}
      rows={hooks.data?.hooks}
      rowKey={({ id }) => id}
      source={hooks}
      page={page}
      pages={hooks.data?.pages}
      onPage={(next) => set({ p: String(next) })}
      empty={
        <Empty icon={WebhookIcon} title={say('webhooks.empty')} hint={say('webhooks.emptyHint')}>
          <NewWebhook />
        </Empty>
      }
    />
  )
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'name',
    title: say('webhooks.name'),
    cell: ({ id, name, target_path: target }) => (
      <Anchor component={Link} to={`/webhooks/${id}`} fw={550} size="sm" dir="auto" ta="left" lineClamp={2}>
        {name || target}
      </Anchor>
    ),
  },
  {
    name: 'target',
    title: say('webhooks.target'),
    cell: ({ method, target_path: target }) => (
      <Group gap={6} wrap="nowrap">
        <Badge variant="default" size="sm" miw={52} visibleFrom="sm">
          {method}
        </Badge>
        <Code className="wrap-anywhere">{target}</Code>
      </Group>
    ),
  },
  {
    name: 'deliveries',
    title: say('webhooks.deliveries'),
    wideOnly: true,
    cell: ({ id }) => <Backlog id={id} />,
  },
]

/** How many messages wait, and how many were given up. */
function Backlog({ id }: { readonly id: string }) {
  const queue = webhookQueue(id)
  const read = useQuery({ queryKey: queue.key, queryFn: ({ signal }) => queue.list(signal) })
  if (read.data === undefined) return null
  const { deliveries: data } = read.data
  const dead = data.filter((one) => one.dead).length
  const waiting = data.length - dead
  if (data.length === 0)
    return (
      <Badge variant="light" color="teal">
        {say('webhooks.delivered')}
      </Badge>
    )
  return (
    <Group gap={6}>
      {dead > 0 && <Badge color="red">{say('webhooks.deadCount', { count: dead })}</Badge>}
      {waiting > 0 && (
        <Badge variant="light" color="yellow">
          {say('webhooks.waitCount', { count: waiting })}
        </Badge>
      )}
    </Group>
  )
}
