import { Anchor, Card, Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowLeftIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  CLIENTS_KEY,
  type ClientWanted,
  type OAuthClient,
  readClient,
  saveClient,
} from '../../../api/access/clients.ts'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { CopyText } from '../../../parts/display/copy.tsx'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { When } from '../../../parts/display/when.tsx'
import { GuardedForm } from '../../../parts/forms/guarded-form.tsx'
import { History } from '../../../parts/history/history.tsx'
import { ObjectTraffic } from '../../../parts/overview/overview.tsx'
import { PolicyBadges, usePolicyNames } from '../../../parts/portal/policy-names.tsx'
import { say } from '../../../texts/say.ts'
import { ClientActions } from './clients-actions.tsx'
import { clientFields, clientOf, clientValues } from './clients-fields.ts'
import { ClientTokens } from './clients-tokens.tsx'

interface Props {
  readonly api: ApiView
  readonly clientId: string
  readonly onBack: () => void
}

/** One client with its tokens. */
export function OneClient({ api, clientId, onBack }: Props) {
  const [isEditing, setEditing] = useState(false)
  const maySeeHistory = useMay('audit_logs')
  const maySeeTraffic = useMay('analytics')
  const { data, error, refetch } = useQuery({
    queryKey: [...CLIENTS_KEY, api.id, 'one', clientId],
    queryFn: ({ signal }) => readClient(api.id, clientId, signal),
  })
  return (
    <Stack gap="md">
      <Anchor component="button" type="button" size="sm" ta="start" onClick={onBack}>
        <Group gap={4} component="span">
          <ArrowLeftIcon size={14} aria-hidden />
          {say('clients.back')}
        </Group>
      </Anchor>
      {data === undefined ? (
        error === null ? (
          <Skeleton h={160} />
        ) : (
          <FaultBox error={error} retry={() => void refetch()} />
        )
      ) : isEditing ? (
        <Edit api={api} client={data} onClose={() => setEditing(false)} />
      ) : (
        <>
          <Details api={api} client={data} onEdit={() => setEditing(true)} onGone={onBack} />
          {maySeeTraffic && <ObjectTraffic traffic={{ client: clientId }} />}
          <ClientTokens api={api} client={data} />
          {maySeeHistory && (
            <Card withBorder padding="lg" component="section">
              <Title order={2} size="h4" mb="xs">
                {say('history.title')}
              </Title>
              <History kind="oauth_client" id={clientId} />
            </Card>
          )}
        </>
      )}
    </Stack>
  )
}

function Details(props: {
  readonly api: ApiView
  readonly client: OAuthClient
  readonly onEdit: () => void
  readonly onGone: () => void
}) {
  const { client } = props
  const nameOf = usePolicyNames(client.policies)
  return (
    <Card withBorder padding="lg" component="section">
      <Group justify="space-between" mb="md" align="flex-start">
        <Stack gap={2} miw={0} flex="1 1 14rem">
          <Title order={2} size="h4" className="wrap-anywhere">
            {client.client_name || client.client_id}
          </Title>
          {client.description !== '' && (
            <Text size="sm" c="dimmed" className="wrap-anywhere" dir="auto">
              {client.description}
            </Text>
          )}
        </Stack>
        <ClientActions {...props} />
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        <Fact name={say('clients.id')}>
          <CopyText value={client.client_id} />
        </Fact>
        <Fact name={say('clients.method')}>{say(`clients.method.${methodOf(client)}`)}</Fact>
        <Fact name={say('clients.redirects')}>
          {client.redirect_uris.map((uri) => (
            <CopyText key={uri} value={uri} />
          ))}
        </Fact>
        <Fact name={say('clients.policies')}>
          {client.policies.length === 0 ? (
            say('clients.noPolicies')
          ) : (
            <PolicyBadges ids={client.policies} nameOf={nameOf} />
          )}
        </Fact>
        <Fact name={say('clients.created')}>
          <When at={client.date_created} />
        </Fact>
        {Object.keys(client.metadata).length > 0 && (
          <Fact name={say('clients.metadata')}>
            {Object.entries(client.metadata).map(([name, value]) => (
              <Text key={name} size="sm" className="wrap-anywhere" dir="auto">
                {name}: {typeof value === 'string' ? value : JSON.stringify(value)}
              </Text>
            ))}
          </Fact>
        )}
      </SimpleGrid>
    </Card>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div" className="wrap-anywhere">
        {children}
      </Text>
    </div>
  )
}

type Method = 'any' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'tls_client_auth' | 'none'

function methodOf({ auth_method: method }: OAuthClient): Method {
  return (method ?? 'any') as Method
}

function Edit(props: { readonly api: ApiView; readonly client: OAuthClient; readonly onClose: () => void }) {
  const { api, client, onClose } = props
  const cache = useQueryClient()
  return (
    <Paper withBorder p="lg" maw={820}>
      <Title order={2} size="h4" mb="md" className="wrap-anywhere">
        {say('clients.editTitle', { name: client.client_name || client.client_id })}
      </Title>
      <GuardedForm<OAuthClient | ClientWanted>
        fields={clientFields(false)}
        object={{ kind: 'oauth_client', id: client.client_id }}
        stored={client}
        valuesOf={clientValues}
        changed={clientOf}
        read={() => readClient(api.id, client.client_id)}
        write={(mine) => saveClient(api.id, client.client_id, clientOf(clientValues(mine), mine))}
        edited={(each) => clientOf(clientValues(each), each)}
        onDone={() => {
          void cache.invalidateQueries({ queryKey: CLIENTS_KEY })
          onClose()
        }}
        onCancel={onClose}
      />
    </Paper>
  )
}
