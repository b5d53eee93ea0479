import { Badge, Box, Button, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheckIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import type { Delivery, DeliveryQueue } from '../../api/platform/webhooks.ts'
import { say } from '../../texts/say.ts'
import { Empty } from '../display/empty.tsx'
import { notifyDone, notifyFault } from '../display/notify.ts'
import { When } from '../display/when.tsx'
import { type Column, DataTable } from '../tables/data-table.tsx'

const LOOK_AGAIN_MS = 5000

/** Messages that wait for another try, or were given up and may be sent again. */
export function Deliveries({ queue, title }: { readonly queue: DeliveryQueue; readonly title: string }) {
  const deliveries = useQuery({
    queryKey: queue.key,
    queryFn: ({ signal }) => queue.list(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  return (
    <Box>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say('webhooks.deliveriesHint')}
      </Text>
      <DataTable
        label={title}
        columns={columns(queue)}
        rows={deliveries.data?.deliveries}
        rowKey={(one) => String(one.id)}
        error={deliveries.error}
        retry={() => void deliveries.refetch()}
        empty={
          <Empty icon={CircleCheckIcon} title={say('webhooks.allDelivered')} hint={say('webhooks.allDeliveredHint')} />
        }
      />
    </Box>
  )
}

function columns(queue: DeliveryQueue): readonly Column<Delivery>[] {
  return [
    { name: 'created', title: say('webhooks.since'), cell: ({ created_at: at }) => <When at={at} /> },
    { name: 'state', title: say('webhooks.state'), cell: (delivery) => <State delivery={delivery} /> },
    { name: 'attempts', title: say('webhooks.attempts'), isNumber: true, wideOnly: true, cell: (one) => one.attempts },
    { name: 'error', title: say('webhooks.error'), wideOnly: true, cell: ({ error }) => error || '–' },
    {
      name: 'resend',
      title: say('part.actions'),
      cell: (delivery) => <Resend queue={queue} delivery={delivery} />,
    },
  ]
}

function State({ delivery: { dead, error, next_at: next } }: { readonly delivery: Delivery }) {
  if (dead)
    return (
      <>
        <Badge color="red">{say('webhooks.dead')}</Badge>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {error}
        </Text>
      </>
    )
  return (
    <>
      <Badge variant="light" color="yellow">
        {say('webhooks.waits')}
      </Badge>
      <Text size="xs" c="dimmed">
        {say('webhooks.next')} <When at={next} />
      </Text>
    </>
  )
}

function Resend({ queue, delivery }: { readonly queue: DeliveryQueue; readonly delivery: Delivery }) {
  const client = useQueryClient()
  const may = useMay(queue.permission, 'write')
  const sending = useMutation({
    mutationFn: () => queue.resend(delivery.id),
    onSuccess: async () => {
      notifyDone(say('webhooks.resent'))
      await client.invalidateQueries({ queryKey: queue.key })
    },
    onError: notifyFault,
  })
  if (!may || !delivery.dead) return null
  return (
    <Button size="compact-sm" variant="light" loading={sending.isPending} onClick={() => sending.mutate()}>
      {say('webhooks.resend')}
    </Button>
  )
}
