import { Anchor, Badge, Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PlusIcon, UserIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { listUsers, USERS_KEY, type User } from '../../api/people/users.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { When } from '../../parts/display/when.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { say } from '../../texts/say.ts'
import { CustomPermissions } from './custom-permissions.tsx'
import { rightsText } from './rights.ts'

const ABSENT = { q: '', p: '1' } as const

/** Users of the organisation. */
export default function Users() {
  return (
    <>
      <PageHead title={say('users.title')} hint={say('users.hint')}>
        <NewUserButton />
      </PageHead>
      <Guarded permission="users">
        <List />
        <CustomPermissions />
      </Guarded>
    </>
  )
}

function NewUserButton() {
  if (!useMay('users', 'write')) return null
  return (
    <Button component={Link} to="/users/new" leftSection={<PlusIcon size={16} aria-hidden />}>
      {say('users.new')}
    </Button>
  )
}

function List() {
  const [{ q, p }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const users = useQuery({
    queryKey: [...USERS_KEY, 'list', q, page],
    queryFn: ({ signal }) => listUsers({ q, page }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack gap="sm">
      <SearchBox value={q} label={say('users.search')} onSearch={(text) => set({ q: text, p: '' })} />
      <PagedTable
        label={say('users.title')}
        columns={USER_COLUMNS}
        rows={users.data?.users}
        rowKey={({ id }) => id}
        source={users}
        page={page}
        pages={users.data?.pages}
        onPage={(next) => set({ p: String(next) })}
        empty={
          q === '' ? (
            <Empty icon={UserIcon} title={say('users.empty')} hint={say('users.emptyHint')} />
          ) : (
            <Empty icon={UserIcon} title={say('users.none')} hint={say('users.noneHint', { q })} />
          )
        }
      />
    </Stack>
  )
}

/** The columns of users in lists. */
export const USER_COLUMNS: readonly Column<User>[] = [
  { name: 'name', title: say('users.name'), cell: (user) => <Name user={user} /> },
  { name: 'rights', title: say('users.rights'), width: 150, cell: (user) => <UserRights user={user} /> },
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
  {
    name: 'last',
    title: say('users.lastLogin'),
    wideOnly: true,
    cell: ({ last_login_date: at }) => <When at={at} />,
  },
]

/** The name of a user, else the address. */
export function nameOf({ first_name, last_name, email_address }: User): string {
  return `${first_name} ${last_name}`.trim() || email_address
}

function Name({ user }: { readonly user: User }) {
  const name = nameOf(user)
  return (
    <>
      <Anchor component={Link} to={`/users/${user.id}`} fw={550} size="sm" dir="auto" ta="left" lineClamp={2}>
        {name}
      </Anchor>
      {name !== user.email_address && (
        <Text size="xs" c="dimmed" lineClamp={1}>
          {user.email_address}
        </Text>
      )}
    </>
  )
}

function UserRights({ user }: { readonly user: User }) {
  const text =
    user.group_name === '' ? rightsText(user.user_permissions) : say('users.byGroup', { name: user.group_name })
  return (
    <Text size="sm" span lineClamp={2} dir="auto">
      {text}
    </Text>
  )
}
