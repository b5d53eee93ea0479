import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
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
import { type BulkActions, useBulkActions } from '../../../parts/tables/bulk-actions.tsx'
import type { Column } from '../../../parts/tables/data-table.tsx'
import { PagedTable } from '../../../parts/tables/paged-table.tsx'
import { pageSizeIn } from '../../../parts/tables/pager.tsx'
import { SearchBox } from '../../../parts/tables/search-box.tsx'
import { useSelection } from '../../../parts/tables/selection.ts'
import { Deliveries } from '../../../parts/webhooks/deliveries.tsx'
import { say } from '../../../texts/say.ts'
import { textAt } from '../editor/tree.ts'
import { clientActions } from './bulk-clients.ts'
import { NewClient } from './clients-new.tsx'
import { OneClient } from './clients-one.tsx'

/** `view` is the client that is shown, or `new`; `clients` the page of the list, `client` what is looked for. */
const ABSENT = { view: '', clients: '1', client: '', size: '' } as const
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
  const [{ clients: page, client: q, size: word }, set] = useAddress(ABSENT)
  const p = Number(page) || 1
  const size = pageSizeIn(word)
  const query = { p, q, page_size: size }
  const client = useQueryClient()
  const mayWrite = useMay('oauth', 'write')
  const selection = useSelection(idOf)
  const bulk = useBulkActions({
    ...{ selection, nameOf: nameOfClient },
    actions: clientActions(api.id, mayWrite),
    onDone: () => void client.invalidateQueries({ queryKey: CLIENTS_KEY }),
  })
  const clients = useQuery({
    queryKey: [...CLIENTS_KEY, api.id, 'list', query],
    queryFn: ({ signal }) => listClients(api.id, query, signal),
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
      <Stack gap="sm" mb="sm">
        <SearchBox value={q} label={say('clients.search')} onSearch={(text) => set({ client: text, clients: '' })} />
        {bulk.bar}
      </Stack>
      <PagedTable
        label={say('clients.title')}
        columns={columnsOf(onOpen, nameOf, bulk)}
        rows={apps}
        rowKey={idOf}
        selection={selection}
        nameOf={nameOfClient}
        sized={{ size, total: clients.data?.total, onSize: (next) => set({ size: next, clients: '' }) }}
        source={clients}
        page={p}
        pages={clients.data?.pages}
        onPage={(next) => set({ clients: String(next) })}
        empty={
          q !== '' ? (
            <Empty icon={AppWindowIcon} title={say('clients.noMatch')} hint={say('clients.noMatchHint')} />
          ) : (
            <Empty icon={AppWindowIcon} title={say('clients.empty')} hint={say('clients.emptyHint')}>
              {add}
            </Empty>
          )
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

const idOf = ({ client_id }: OAuthClient) => client_id
const nameOfClient = ({ client_id, client_name }: OAuthClient) => client_name || client_id

function columnsOf(
  onOpen: (clientId: string) => void,
  nameOf: (id: string) => string,
  bulk: BulkActions<OAuthClient>,
): readonly Column<OAuthClient>[] {
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
            {nameOfClient(client)}
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
    { name: 'actions', title: say('part.actions'), isTitleHidden: true, width: 44, cell: bulk.menu },
  ]
}
