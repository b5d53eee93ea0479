import { Badge, Box, Button, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheckIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { DELIVERIES_KEY, type Delivery, listDeliveries, resendDelivery } from '../../api/platform/webhooks.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { notifyDone, notifyFault } from '../../parts/display/notify.ts'
import { When } from '../../parts/display/when.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'

const LOOK_AGAIN_MS = 5000

/** Messages that wait for another try, or were given up and may be sent again. */
export function Deliveries({ id }: { readonly id: string }) {
  const deliveries = useQuery({
    queryKey: [...DELIVERIES_KEY, id],
    queryFn: ({ signal }) => listDeliveries(id, signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  return (
    <Box>
      <Title order={2} size="h4">
        {say('webhooks.deliveries')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say('webhooks.deliveriesHint')}
      </Text>
      <DataTable
        label={say('webhooks.deliveries')}
        columns={columns(id)}
        rows={deliveries.data}
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

function columns(hookId: string): readonly Column<Delivery>[] {
  return [
    { name: 'created', title: say('webhooks.since'), cell: ({ created_at: at }) => <When at={at} /> },
    { name: 'state', title: say('webhooks.state'), cell: (delivery) => <State delivery={delivery} /> },
    { name: 'attempts', title: say('webhooks.attempts'), isNumber: true, wideOnly: true, cell: (one) => one.attempts },
    { name: 'error', title: say('webhooks.error'), wideOnly: true, cell: ({ error }) => error || '–' },
    {
      name: 'resend',
      title: say('part.actions'),
      cell: (delivery) => <Resend hookId={hookId} delivery={delivery} />,
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

function Resend({ hookId, delivery }: { readonly hookId: string; readonly delivery: Delivery }) {
  const client = useQueryClient()
  const may = useMay('hooks', 'write')
  const sending = useMutation({
    mutationFn: () => resendDelivery(hookId, delivery.id),
    onSuccess: async () => {
      notifyDone(say('webhooks.resent'))
      await client.invalidateQueries({ queryKey: [...DELIVERIES_KEY, hookId] })
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
