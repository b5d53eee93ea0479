import { Anchor, Badge, Button, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PlusIcon, UsersRoundIcon } from 'lucide-react'
import { GROUPS_KEY, listGroups, type UserGroup } from '../../api/people/groups.ts'
import { useMay } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { say } from '../../texts/say.ts'
import { rightsText } from '../users/rights.ts'

const ABSENT = { p: '1' } as const

/** Groups of users. */
export default function Groups() {
  return (
    <>
      <PageHead title={say('groups.title')} hint={say('groups.hint')}>
        <NewGroup />
      </PageHead>
      <Guarded permission="user_groups">
        <List />
      </Guarded>
    </>
  )
}

function NewGroup() {
  if (!useMay('user_groups', 'write')) return null
  return (
    <Button component={Link} to="/groups/new" leftSection={<PlusIcon size={16} aria-hidden />}>
      {say('groups.new')}
    </Button>
  )
}

function List() {
  const [{ p }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const groups = useQuery({
    queryKey: [...GROUPS_KEY, 'list', page],
    queryFn: ({ signal }) => listGroups(page, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <PagedTable
      label={say('groups.title')}
      columns={COLUMNS}
      rows={groups.data?.groups}
      rowKey={({ id }) => id}
      source={groups}
      page={page}
      pages={groups.data?.pages}
      onPage={(next) => set({ p: String(next) })}
      empty={
        <Empty icon={UsersRoundIcon} title={say('groups.empty')} hint={say('groups.emptyHint')}>
          <NewGroup />
        </Empty>
      }
    />
  )
}

const COLUMNS: readonly Column<UserGroup>[] = [
  { name: 'name', title: say('groups.name'), cell: (group) => <Name group={group} /> },
  { name: 'rights', title: say('users.rights'), cell: ({ user_permissions: rights }) => rightsText(rights) },
  {
    name: 'state',
    title: say('users.state'),
    wideOnly: true,
    cell: ({ active }) => (
      <Badge variant="light" color={active ? 'teal' : 'gray'}>
        {say(active ? 'users.active' : 'users.inactive')}
      </Badge>
    ),
  },
]

function Name({ group }: { readonly group: UserGroup }) {
  return (
    <>
      <Anchor component={Link} to={`/groups/${group.id}`} fw={550} size="sm" dir="auto" ta="left" lineClamp={2}>
        {group.name}
      </Anchor>
      <Text size="xs" c="dimmed" dir="auto" lineClamp={2}>
        {group.description}
      </Text>
    </>
  )
}
