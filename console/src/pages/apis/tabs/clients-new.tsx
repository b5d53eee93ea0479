import { Paper, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CLIENTS_KEY, createClient, type OAuthClient } from '../../../api/access/clients.ts'
import type { ApiView } from '../../../api/apis/apis.ts'
import { SecretOnce } from '../../../parts/display/secret-once.tsx'
import { RecordForm } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { clientFields, clientOf, clientValues } from './clients-fields.ts'

/** Registers a client, and shows id and secret. */
export function NewClient(props: {
  readonly api: ApiView
  readonly onDone: (clientId: string) => void
  readonly onCancel: () => void
}) {
  const { api, onDone, onCancel } = props
  const [made, setMade] = useState<OAuthClient>()
  const client = useQueryClient()
  return (
    <Paper withBorder p="lg" maw={820}>
      <Title order={2} size="h4" mb="md">
        {say('clients.new')}
      </Title>
      <RecordForm
        guarded
        fields={clientFields(true)}
        initial={clientValues({})}
        verb={say('clients.create')}
        done=""
        submit={(values) => createClient(api.id, clientOf(values, {}))}
        onDone={(answer) => {
          void client.invalidateQueries({ queryKey: CLIENTS_KEY })
          const registered = answer as OAuthClient
          if (registered.secret === '') onDone(registered.client_id)
          else setMade(registered)
        }}
        onCancel={onCancel}
      />
      <SecretOnce
        title={say('clients.made')}
        secrets={
          made && [
            { name: say('clients.id'), value: made.client_id },
            { name: say('clients.secret'), value: made.secret },
          ]
        }
        onDone={() => made && onDone(made.client_id)}
      />
    </Paper>
  )
}
