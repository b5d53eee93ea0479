import { Alert, Button, Paper, Skeleton, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { SendIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import {
  changeWebhook,
  deleteWebhook,
  readWebhook,
  testWebhook,
  WEBHOOKS_KEY,
  type Webhook,
  type WebhookEdit,
  webhookQueue,
} from '../../api/platform/webhooks.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { Deliveries } from '../../parts/webhooks/deliveries.tsx'
import { say } from '../../texts/say.ts'
import { webhookFields, webhookIn, webhookValues } from './webhook-fields.ts'

/** One webhook, and what did not arrive at it. */
export default function OneWebhook() {
  const { id = '' } = useParams({ strict: false })
  const webhook = useQuery({ queryKey: [...WEBHOOKS_KEY, id], queryFn: ({ signal }) => readWebhook(id, signal) })
  if (webhook.data === undefined)
    return webhook.error === null ? (
      <Skeleton h={400} />
    ) : (
      <NotReadable error={webhook.error} retry={webhook.refetch} title={say('webhooks.gone')} to="/webhooks" />
    )
  return <Page key={webhook.data.id} webhook={webhook.data} />
}

function Page({ webhook }: { readonly webhook: Webhook }) {
  const may = useMay('hooks', 'write')
  const test = useMutation({ mutationFn: () => testWebhook(webhook.id) })
  return (
    <>
      <PageHead title={webhook.name || webhook.target_path} hint={webhook.target_path}>
        {may && (
          <>
            <Button
              variant="light"
              leftSection={<SendIcon size={16} aria-hidden />}
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              {say('webhooks.test')}
            </Button>
            <DeleteWebhook webhook={webhook} />
          </>
        )}
      </PageHead>
      <Stack gap="lg">
        <div aria-live="polite">
          {test.isSuccess && <Alert color="teal" title={say('webhooks.testWorked')} />}
          <FaultBox error={test.error} />
        </div>
        <Paper withBorder p="md" maw={900}>
          <Form webhook={webhook} readOnly={!may} />
        </Paper>
        <Deliveries queue={webhookQueue(webhook.id)} title={say('webhooks.deliveries')} />
      </Stack>
    </>
  )
}

function Form({ webhook, readOnly }: { readonly webhook: Webhook; readonly readOnly: boolean }) {
  const client = useQueryClient()
  return (
    <GuardedForm<Edited>
      readOnly={readOnly}
      fields={webhookFields(false)}
      stored={webhook}
      valuesOf={webhookValues}
      changed={(values, loaded) => ({ ...loaded, ...webhookIn(values) })}
      // The secret is never read, so it cannot be compared.
      edited={({ shared_secret: _secret, ...seen }) => seen}
      read={() => readWebhook(webhook.id)}
      write={(mine) => changeWebhook(webhook.id, mine)}
      onDone={() => void client.invalidateQueries({ queryKey: WEBHOOKS_KEY })}
    />
  )
}

type Edited = Webhook & Pick<WebhookEdit, 'shared_secret'>

function DeleteWebhook({ webhook: { id, name, target_path: target } }: { readonly webhook: Webhook }) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <>
      <Button
        color="red"
        variant="light"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        {say('webhooks.delete')}
      </Button>
      <ConfirmDelete
        name={asked ? name || target : undefined}
        depends={say('webhooks.deleteDepends')}
        run={() => deleteWebhook(id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          client.removeQueries({ queryKey: [...WEBHOOKS_KEY, id] })
          await navigate({ to: '/webhooks', replace: true })
          await client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
        }}
      />
    </>
  )
}
