import { Box, Button, Paper, Skeleton, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2Icon, UsersRoundIcon } from 'lucide-react'
import { useMemo, useState } from 'react'
import {
  changeGroup,
  deleteGroup,
  GROUPS_KEY,
  type GroupEdit,
  readGroup,
  type UserGroup,
} from '../../api/people/groups.ts'
import { useMay } from '../../api/people/session.ts'
import { listMembers, USERS_KEY } from '../../api/people/users.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { DataTable } from '../../parts/tables/data-table.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { Pager } from '../../parts/tables/pager.tsx'
import { say } from '../../texts/say.ts'
import { USER_COLUMNS } from '../users/list.tsx'
import { groupFields, groupIn, groupValues } from './group-fields.tsx'

const ABSENT = { p: '1' } as const

/** One group: what it gives, and to whom. */
export default function OneGroup() {
  const { id = '' } = useParams({ strict: false })
  return (
    <Guarded permission="user_groups" title={say('groups.title')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...GROUPS_KEY, 'one', id],
    queryFn: ({ signal }) => readGroup(id, signal),
  })
  if (error !== null) return <NotReadable error={error} retry={refetch} title={say('groups.gone')} to="/groups" />
  if (data === undefined) return <Skeleton h={400} />
  return (
    <>
      <PageHead title={data.name} hint={<bdi>{data.description}</bdi>}>
        <DeleteGroup group={data} />
      </PageHead>
      <Paper withBorder p="md" maw={900}>
        <Form group={data} />
      </Paper>
      <Members groupId={id} />
    </>
  )
}

const editable = (group: UserGroup) => groupIn(groupValues(group))

function Form({ group }: { readonly group: UserGroup }) {
  const client = useQueryClient()
  const may = useMay('user_groups', 'write')
  const stored = useMemo(() => editable(group), [group])
  return (
    <GuardedForm<Required<GroupEdit>>
      readOnly={!may}
      fields={groupFields(!may)}
      stored={stored}
      valuesOf={groupValues}
      changed={groupIn}
      read={async () => editable(await readGroup(group.id))}
      write={(edit) => changeGroup(group.id, edit)}
      onDone={() => void client.invalidateQueries({ queryKey: GROUPS_KEY })}
    />
  )
}

function Members({ groupId }: { readonly groupId: string }) {
  const may = useMay('users')
  const [{ p }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const members = useQuery({
    queryKey: [...USERS_KEY, 'of', groupId, page],
    queryFn: ({ signal }) => listMembers(groupId, page, signal),
    placeholderData: keepPreviousData,
    enabled: may,
  })
  return (
    <Box mt="xl">
      <Title order={2} size="h4">
        {say('groups.members')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say(may ? 'groups.membersHint' : 'groups.seesNoUsers')}
      </Text>
      {may && (
        <DataTable
          label={say('groups.members')}
          columns={USER_COLUMNS}
          rows={members.data?.users}
          rowKey={({ id }) => id}
          error={members.error}
          retry={() => void members.refetch()}
          empty={<Empty icon={UsersRoundIcon} title={say('groups.noMembers')} hint={say('groups.membersHint')} />}
        />
      )}
      <Pager page={page} pages={members.data?.pages ?? 1} onPage={(next) => set({ p: String(next) })} />
    </Box>
  )
}

function DeleteGroup({ group }: { readonly group: UserGroup }) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  if (!useMay('user_groups', 'write')) return null
  return (
    <>
      <Button
        color="red"
        variant="light"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        {say('groups.delete')}
      </Button>
      <ConfirmDelete
        name={asked ? group.name : undefined}
        depends={say('groups.deleteDepends')}
        run={() => deleteGroup(group.id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          await navigate({ to: '/groups', replace: true })
          client.removeQueries({ queryKey: [...GROUPS_KEY, 'one', group.id] })
          await client.invalidateQueries({ queryKey: GROUPS_KEY })
        }}
      />
    </>
  )
}
