import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { PlusIcon, WaypointsIcon } from 'lucide-react'
import { APIS_KEY, type ApiFacts, listApis } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { useAddress } from '../../../app/address.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { PageHead } from '../../../parts/display/page-head.tsx'
import { When } from '../../../parts/display/when.tsx'
import { Guarded, GuardedButton } from '../../../parts/forms/guarded.tsx'
import { type BulkActions, useBulkActions } from '../../../parts/tables/bulk-actions.tsx'
import type { Column } from '../../../parts/tables/data-table.tsx'
import { PagedTable } from '../../../parts/tables/paged-table.tsx'
import { pageSizeIn } from '../../../parts/tables/pager.tsx'
import { useSelection } from '../../../parts/tables/selection.ts'
import { say } from '../../../texts/say.ts'
import { LoadedOn } from '../editor/node-states.tsx'
import { AuthBadges, StateBadge } from './badges.tsx'
import { apiActions } from './bulk-apis.tsx'
import { ABSENT, type ApiWords, Filters } from './list-filters.tsx'

const POLL_MS = 15_000

/** All APIs that the reader may see. */
export default function Apis() {
  return (
    <>
      <PageHead title={say('shell.apis')} hint={say('apis.listHint')}>
        <AddButton />
      </PageHead>
      <Guarded permission="apis">
        <ApiList />
      </Guarded>
    </>
  )
}

function AddButton() {
  const navigate = useNavigate()
  return (
    <GuardedButton
      permission="apis"
      leftSection={<PlusIcon size={16} aria-hidden />}
      onClick={() => void navigate({ to: '/apis/new' })}
    >
      {say('shell.newApi')}
    </GuardedButton>
  )
}

function ApiList() {
  const [words, setWords] = useAddress<keyof ApiWords>(ABSENT)
  const page = Math.max(1, Number(words.page) || 1)
  const labels = words.labels === '' ? [] : words.labels.split('\n')
  const { q, sort, active, auth_type, category } = words
  const size = pageSizeIn(words.size)
  const query = { p: page, page_size: size, q, sort, active, auth_type, category, labels }
  const apis = useQuery({
    queryKey: [...APIS_KEY, 'list', query],
    queryFn: ({ signal }) => listApis(query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
  const client = useQueryClient()
  const mayWrite = useMay('apis', 'write')
  const selection = useSelection(idOf)
  const bulk = useBulkActions({
    ...{ selection, nameOf },
    actions: apiActions(mayWrite),
    onDone: () => void client.invalidateQueries({ queryKey: APIS_KEY }),
  })
  const isFiltered = [q, active, auth_type, category, words.labels].some((word) => word !== '')
  return (
    <Stack gap="md">
      <Filters words={words} onChange={(change) => setWords({ ...change, page: '' })} />
      {bulk.bar}
      <PagedTable
        label={say('shell.apis')}
        columns={columnsOf(bulk)}
        rows={apis.data?.apis}
        rowKey={idOf}
        selection={selection}
        nameOf={nameOf}
        sized={{ size, total: apis.data?.total, onSize: (next) => setWords({ size: next, page: '' }) }}
        source={apis}
        page={page}
        pages={apis.data?.pages}
        onPage={(next) => setWords({ page: next === 1 ? '' : String(next) })}
        sorting={{ by: sort.replace('-', ''), descending: sort.startsWith('-') }}
        onSort={({ by, descending }) => setWords({ sort: `${descending ? '-' : ''}${by}`, page: '' })}
        empty={isFiltered ? <Empty title={say('apis.noMatch')} hint={say('apis.noMatchHint')} /> : <First />}
      />
    </Stack>
  )
}

const idOf = ({ id }: ApiFacts) => id
const nameOf = ({ name }: ApiFacts) => name

function First() {
  return (
    <Empty icon={WaypointsIcon} title={say('apis.none')} hint={say('apis.noneHint')}>
      <AddButton />
    </Empty>
  )
}

const columnsOf = (bulk: BulkActions<ApiFacts>): readonly Column<ApiFacts>[] => [
  { name: 'name', title: say('apis.name'), sortBy: 'name', cell: (api) => <Name api={api} /> },
  {
    name: 'upstream',
    title: say('apis.upstream'),
    wideOnly: true,
    cell: ({ upstreams }) => <Upstreams addresses={upstreams} />,
  },
  {
    name: 'auth',
    title: say('apis.authentication'),
    sortBy: 'auth_type',
    wideOnly: true,
    cell: (api) => <AuthBadges types={api.auth_types} />,
  },
  {
    name: 'state',
    title: say('apis.state'),
    sortBy: 'active',
    cell: (api) => <StateBadge active={api.active} internal={api.internal} />,
  },
  { name: 'labels', title: say('apis.labels'), wideOnly: true, cell: (api) => <Words api={api} /> },
  { name: 'nodes', title: say('apis.loaded'), wideOnly: true, cell: ({ nodes }) => <LoadedOn nodes={nodes} /> },
  {
    ...{ name: 'updated', title: say('apis.updated'), sortBy: 'updated_at', wideOnly: true, width: 140 },
    cell: ({ updated_at }) => <When at={updated_at} />,
  },
  { name: 'actions', title: say('part.actions'), isTitleHidden: true, width: 44, cell: bulk.menu },
]

function Upstreams({ addresses }: { readonly addresses: readonly string[] }) {
  const [first, ...more] = addresses
  return (
    <Text size="xs" ff="monospace" className="wrap-anywhere" title={addresses.join('\n')} lineClamp={2}>
      {first} {more.length > 0 && say('apis.moreUpstreams', { count: more.length })}
    </Text>
  )
}

function Name({ api }: { readonly api: ApiFacts }) {
  return (
    <Stack gap={0}>
      <Anchor
        component={Link}
        to={`/apis/${encodeURIComponent(api.api_id)}` as '/'}
        fw={600}
        size="sm"
        dir="auto"
        className="wrap-anywhere"
        lineClamp={2}
      >
        {api.name}
      </Anchor>
      <Text size="xs" c="dimmed" ff="monospace" className="wrap-anywhere">
        {api.domain}
        {api.listen_path}
      </Text>
    </Stack>
  )
}

const MOST_WORDS = 4

function Words({ api }: { readonly api: ApiFacts }) {
  const words = [
    ...api.labels.map(({ key, value }) => ({ name: `${key}: ${value}`, text: value })),
    ...api.categories.map((name) => ({ name: `#${name}`, text: `#${name}` })),
  ]
  return (
    <Group gap={4}>
      {words.slice(0, MOST_WORDS).map(({ name, text }) => (
        <Badge key={name} title={name} variant="default" size="sm" tt="none" maw={220}>
          {text}
        </Badge>
      ))}
      {words.length > MOST_WORDS && (
        <Text size="xs" c="dimmed">
          {say('apis.moreWords', { count: words.length - MOST_WORDS })}
        </Text>
      )}
    </Group>
  )
}
