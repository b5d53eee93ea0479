import { Alert, Button, Paper, Skeleton, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { SendIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import {
  changeWebhook,
  deleteWebhook,
  readWebhook,
  testWebhook,
  WEBHOOKS_KEY,
  type Webhook,
} from '../../api/webhooks.ts'
import { ConfirmDelete } from '../../parts/confirm-delete.tsx'
import { useGuardedSave } from '../../parts/conflict.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { RecordForm } from '../../parts/record-form.tsx'
import { say } from '../../texts/say.ts'
import { Deliveries } from './deliveries.tsx'
import { webhookFields, webhookIn, webhookValues } from './webhook-fields.ts'

/** One webhook, and what did not arrive at it. */
export default function OneWebhook() {
  const { id = '' } = useParams({ strict: false })
  const webhook = useQuery({ queryKey: [...WEBHOOKS_KEY, id], queryFn: ({ signal }) => readWebhook(id, signal) })
  if (webhook.error !== null) return <FaultBox error={webhook.error} retry={() => void webhook.refetch()} />
  if (webhook.data === undefined) return <Skeleton h={400} />
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
        <Deliveries id={webhook.id} />
      </Stack>
    </>
  )
}

function Form({ webhook, readOnly }: { readonly webhook: Webhook; readonly readOnly: boolean }) {
  const client = useQueryClient()
  const [loaded, setLoaded] = useState(webhook)
  const { save, dialog } = useGuardedSave()
  return (
    <>
      {dialog}
      <RecordForm
        key={JSON.stringify(loaded)}
        guarded
        readOnly={readOnly}
        fields={webhookFields(false)}
        initial={webhookValues(loaded)}
        done=""
        submit={async (values) => {
          const edit = webhookIn(values)
          const { shared_secret: _secret, ...seen } = edit
          const { outcome } = await save<Webhook>({
            loaded,
            mine: { ...loaded, ...seen },
            read: () => readWebhook(webhook.id),
            write: () => changeWebhook(loaded, edit),
          })
          if (outcome === 'saved') notifyDone(say('part.saved'))
          return readWebhook(webhook.id)
        }}
        onDone={async (stored) => {
          setLoaded(stored as Webhook)
          await client.invalidateQueries({ queryKey: WEBHOOKS_KEY })
        }}
      />
    </>
  )
}

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
