import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { AppWindowIcon, PlusIcon } from 'lucide-react'
import { CLIENTS_KEY, listClients, type OAuthClient } from '../../../api/access/clients.ts'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { notificationQueue } from '../../../api/platform/webhooks.ts'
import { useAddress } from '../../../app/address.ts'
import { CopyText } from '../../../parts/display/copy.tsx'
import { Empty } from '../../../parts/display/empty.tsx'
import { When } from '../../../parts/display/when.tsx'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { PolicyBadges, usePolicyNames } from '../../../parts/portal/policy-names.tsx'
import type { Column } from '../../../parts/tables/data-table.tsx'
import { PagedTable } from '../../../parts/tables/paged-table.tsx'
import { Deliveries } from '../../../parts/webhooks/deliveries.tsx'
import { say } from '../../../texts/say.ts'
import { textAt } from '../editor/tree.ts'
import { NewClient } from './clients-new.tsx'
import { OneClient } from './clients-one.tsx'

/** `view` is the client that is shown, or `new`; `clients` the page of the list. */
const ABSENT = { view: '', clients: '1' } as const
const NEW = 'new'
const ONE = 'client:'

/** OAuth clients of an API: the list, a new one, or one of them with its tokens. */
export default function ClientsTab({ api }: { readonly api: ApiView }) {
  const [{ view }, set] = useAddress(ABSENT)
  const mayWrite = useMay('oauth', 'write')
  const open = (clientId: string) => set({ view: `${ONE}${clientId}` })
  const close = () => set({ view: '' })
  return (
    <Guarded permission="oauth">
      {view === NEW && mayWrite ? (
        <NewClient api={api} onDone={open} onCancel={close} />
      ) : view.startsWith(ONE) ? (
        <OneClient api={api} clientId={view.slice(ONE.length)} onBack={close} />
      ) : (
        <>
          <List api={api} onOpen={open} onNew={() => set({ view: NEW })} />
          {hasReceiver(api) && <Deliveries queue={notificationQueue(api.id)} title={say('clients.notifications')} />}
        </>
      )}
    </Guarded>
  )
}

/** True where tokens are announced to a receiver. */
function hasReceiver({ classic }: ApiView): boolean {
  return textAt(classic, ['notifications', 'oauth_on_keychange_url']) !== ''
}

function List(props: {
  readonly api: ApiView
  readonly onOpen: (clientId: string) => void
  readonly onNew: () => void
}) {
  const { api, onOpen } = props
  const [{ clients: page }, set] = useAddress(ABSENT)
  const p = Number(page) || 1
  const clients = useQuery({
    queryKey: [...CLIENTS_KEY, api.id, 'list', p],
    queryFn: ({ signal }) => listClients(api.id, p, signal),
    placeholderData: keepPreviousData,
  })
  const apps = clients.data?.apps
  const nameOf = usePolicyNames((apps ?? []).flatMap(({ policies }) => policies))
  const add = <AddButton onNew={props.onNew} />
  return (
    <>
      <Group justify="space-between" mb="sm" align="flex-start">
        <Text size="sm" c="dimmed" flex="1 1 16rem">
          {say('clients.hint')}
        </Text>
        {(apps?.length ?? 0) > 0 && add}
      </Group>
      <PagedTable
        label={say('clients.title')}
        columns={columnsOf(onOpen, nameOf)}
        rows={apps}
        rowKey={({ client_id }) => client_id}
        source={clients}
        page={p}
        pages={clients.data?.pages}
        onPage={(next) => set({ clients: String(next) })}
        empty={
          <Empty icon={AppWindowIcon} title={say('clients.empty')} hint={say('clients.emptyHint')}>
            {add}
          </Empty>
        }
      />
    </>
  )
}

function AddButton({ onNew }: { readonly onNew: () => void }) {
  if (!useMay('oauth', 'write')) return null
  return (
    <Button leftSection={<PlusIcon size={16} aria-hidden />} onClick={onNew}>
      {say('clients.new')}
    </Button>
  )
}

function columnsOf(onOpen: (clientId: string) => void, nameOf: (id: string) => string): readonly Column<OAuthClient>[] {
  return [
    {
      name: 'client',
      title: say('clients.name'),
      cell: (client) => (
        <Stack gap={2} align="flex-start">
          <Anchor
            component="button"
            type="button"
            ta="start"
            size="sm"
            fw={550}
            className="wrap-anywhere"
            dir="auto"
            onClick={() => onOpen(client.client_id)}
          >
            {client.client_name || client.client_id}
          </Anchor>
          {client.client_name !== '' && <CopyText value={client.client_id} />}
        </Stack>
      ),
    },
    {
      name: 'policies',
      title: say('clients.policies'),
      cell: ({ policies }) =>
        policies.length === 0 ? (
          <Text size="sm">{say('clients.noPolicies')}</Text>
        ) : (
          <PolicyBadges ids={policies} nameOf={nameOf} />
        ),
    },
    {
      name: 'redirects',
      title: say('clients.redirects'),
      wideOnly: true,
      cell: ({ redirect_uris: uris }) => (
        <Text size="sm" lineClamp={2}>
          {uris.join(', ')}
        </Text>
      ),
    },
    {
      name: 'created',
      title: say('clients.created'),
      wideOnly: true,
      width: 130,
      cell: ({ date_created }) => <When at={date_created} />,
    },
  ]
}
