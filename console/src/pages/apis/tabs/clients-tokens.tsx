import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { TicketIcon } from 'lucide-react'
import { useState } from 'react'
import {
  CLIENTS_KEY,
  type LiveToken,
  listTokens,
  type OAuthClient,
  revokeAllTokens,
  revokeToken,
} from '../../../api/access/clients.ts'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { CopyText } from '../../../parts/display/copy.tsx'
import { Empty } from '../../../parts/display/empty.tsx'
import { notifyDone } from '../../../parts/display/notify.ts'
import { When } from '../../../parts/display/when.tsx'
import { ConfirmAction } from '../../../parts/forms/confirm-action.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'

/** The active tokens of a client at the API, with revocation. */
export function ClientTokens({ api, client }: { readonly api: ApiView; readonly client: OAuthClient }) {
  const [asked, setAsked] = useState<LiveToken | 'all'>()
  const mayWrite = useMay('oauth', 'write')
  const cache = useQueryClient()
  const { client_id: clientId } = client
  const queryKey = [...CLIENTS_KEY, api.id, 'tokens', clientId]
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => listTokens(api.id, clientId, signal),
  })
  const close = () => setAsked(undefined)
  const isAll = asked === 'all'
  return (
    <Card withBorder padding="lg" component="section">
      <Group justify="space-between" mb="sm" align="flex-start">
        <Stack gap={2} flex="1 1 14rem">
          <Title order={2} size="h4">
            {say('clients.tokens')}
          </Title>
          <Text size="sm" c="dimmed">
            {say('clients.tokensHint')}
          </Text>
        </Stack>
        {mayWrite && (
          <Button variant="default" c="red" onClick={() => setAsked('all')}>
            {say('clients.revokeAll')}
          </Button>
        )}
      </Group>
      <DataTable
        label={say('clients.tokens')}
        columns={columnsOf(mayWrite ? setAsked : undefined)}
        rows={data}
        rowKey={({ code }) => code}
        error={error}
        retry={() => void refetch()}
        empty={<Empty icon={TicketIcon} title={say('clients.noTokens')} hint={say('clients.noTokensHint')} />}
      />
      <ConfirmAction
        opened={asked !== undefined}
        title={
          isAll ? say('clients.revokeAllTitle', { name: client.client_name || clientId }) : say('clients.revokeTitle')
        }
        verb={say(isAll ? 'clients.revokeAll' : 'clients.revoke')}
        isGrave
        run={async () => {
          if (asked === 'all') return revokeAllTokens(api.id, clientId)
          return asked && revokeToken(clientId, asked.code)
        }}
        onDone={() => {
          notifyDone(say(isAll ? 'clients.revokedAll' : 'clients.revoked'))
          close()
          void cache.invalidateQueries({ queryKey })
        }}
        onClose={close}
      >
        {say(isAll ? 'clients.revokeAllHint' : 'clients.revokeHint')}
      </ConfirmAction>
    </Card>
  )
}

function columnsOf(onRevoke: ((token: LiveToken) => void) | undefined): readonly Column<LiveToken>[] {
  const columns: Column<LiveToken>[] = [
    { name: 'token', title: say('clients.token'), cell: ({ code }) => <CopyText value={code} /> },
    { name: 'expires', title: say('clients.expires'), width: 130, cell: ({ expires }) => <When at={expires} /> },
  ]
  if (onRevoke === undefined) return columns
  return [
    ...columns,
    {
      name: 'actions',
      title: say('part.actions'),
      width: 110,
      cell: (token) => (
        <Button
          size="xs"
          variant="default"
          c="red"
          aria-label={`${say('clients.revoke')} ${token.code.slice(0, 10)}`}
          onClick={() => onRevoke(token)}
        >
          {say('clients.revoke')}
        </Button>
      ),
    },
  ]
}
