import { Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { PlusIcon, UsersIcon } from 'lucide-react'
import { DEVELOPERS_KEY, type Developer, listDevelopers } from '../../api/portal/developers.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { count, When } from '../../parts/display/when.tsx'
import { Guarded, GuardedButton } from '../../parts/forms/guarded.tsx'
import { State } from '../../parts/portal/state.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { say } from '../../texts/say.ts'

const ABSENT = { q: '', page: '1', sort: '-date_created' }

/** Developers of the portal: found by their address. */
export default function Developers() {
  return (
    <Guarded permission="portal" title={say('shell.developers')}>
      <List />
    </Guarded>
  )
}

function List() {
  const [address, setAddress] = useAddress(ABSENT)
  const { q, page, sort } = address
  const source = useQuery({
    queryKey: [...DEVELOPERS_KEY, 'list', address],
    queryFn: ({ signal }) => listDevelopers({ p: page, q, sort }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHead title={say('shell.developers')} hint={say('portal.developersHint')}>
        <Add />
      </PageHead>
      <Stack gap="sm">
        <Box maw={360}>
          <SearchBox
            label={say('portal.searchDevelopers')}
            value={q}
            onSearch={(text) => setAddress({ q: text.trim(), page: '' })}
          />
        </Box>
        <PagedTable
          label={say('shell.developers')}
          columns={COLUMNS}
          rows={source.data?.Data}
          rowKey={({ id }) => id}
          source={source}
          page={Number(page) || 1}
          pages={source.data?.Pages}
          onPage={(to) => setAddress({ page: String(to) })}
          sorting={{ by: sort.replace('-', ''), descending: sort.startsWith('-') }}
          onSort={({ by, descending }) => setAddress({ sort: descending ? `-${by}` : by, page: '' })}
          empty={q === '' ? <None /> : <NoneFound onClear={() => setAddress({ q: '', page: '' })} />}
        />
      </Stack>
    </>
  )
}

const COLUMNS: readonly Column<Developer>[] = [
  {
    name: 'email',
    title: say('portal.developer'),
    sortBy: 'email',
    cell: (developer) => <Who {...developer} />,
  },
  {
    name: 'state',
    title: say('portal.state'),
    wideOnly: true,
    width: 120,
    cell: ({ inactive }) => <State isActive={!inactive} />,
  },
  {
    name: 'keys',
    title: say('portal.keysAndApps'),
    isNumber: true,
    wideOnly: true,
    width: 130,
    cell: ({ keys, oauth_clients }) =>
      count(Object.keys(keys).length + Object.values(oauth_clients).reduce((sum, apps) => sum + apps.length, 0)),
  },
  {
    name: 'in',
    title: say('portal.lastSignedIn'),
    wideOnly: true,
    width: 150,
    cell: ({ last_login_date }) => <When at={last_login_date} />,
  },
  {
    name: 'date_created',
    title: say('portal.joined'),
    sortBy: 'date_created',
    width: 130,
    cell: ({ date_created }) => <When at={date_created} />,
  },
]

function Who({ id, email, fields }: Developer) {
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/developers/${id}`} fw={550} size="sm" dir="auto" lineClamp={2}>
        {email}
      </Anchor>
      {fields.Name && (
        <Text size="xs" c="dimmed" dir="auto" lineClamp={1}>
          {fields.Name}
        </Text>
      )}
    </Stack>
  )
}

function Add() {
  const navigate = useNavigate()
  return (
    <GuardedButton
      permission="portal"
      leftSection={<PlusIcon size={16} aria-hidden />}
      onClick={() => void navigate({ to: '/developers/new' })}
    >
      {say('shell.newDeveloper')}
    </GuardedButton>
  )
}

function None() {
  return (
    <Empty icon={UsersIcon} title={say('portal.noDevelopers')} hint={say('portal.noDevelopersHint')}>
      <Group mt="sm" justify="center">
        <Add />
        <Button variant="default" component={Link} to="/portal-settings">
          {say('portal.toSettings')}
        </Button>
      </Group>
    </Empty>
  )
}

function NoneFound({ onClear }: { readonly onClear: () => void }) {
  return (
    <Empty title={say('portal.nobodyFound')} hint={say('portal.nobodyFoundHint')}>
      <Button variant="default" mt="sm" onClick={onClear}>
        {say('portal.clearSearch')}
      </Button>
    </Empty>
  )
}
