import { Box, Button, Paper, Skeleton, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2Icon, UsersRoundIcon } from 'lucide-react'
import { useState } from 'react'
import { changeGroup, deleteGroup, GROUPS_KEY, readGroup, type UserGroup } from '../../api/groups.ts'
import { useMay } from '../../api/session.ts'
import { listMembers, USERS_KEY } from '../../api/users.ts'
import { useAddress } from '../../app/address.ts'
import { ConfirmDelete } from '../../parts/confirm-delete.tsx'
import { useGuardedSave } from '../../parts/conflict.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { RecordForm } from '../../parts/record-form.tsx'
import { say } from '../../texts/say.ts'
import { USER_COLUMNS } from '../users/list.tsx'
import { groupFields, groupIn, groupValues } from './group-fields.tsx'

const ABSENT = { p: '1' } as const

/** One group: what it gives, and to whom. */
export default function OneGroup() {
  const { id = '' } = useParams({ strict: false })
  const group = useQuery({ queryKey: [...GROUPS_KEY, id], queryFn: ({ signal }) => readGroup(id, signal) })
  if (group.error !== null) return <FaultBox error={group.error} retry={() => void group.refetch()} />
  if (group.data === undefined) return <Skeleton h={400} />
  return (
    <>
      <PageHead title={group.data.name} hint={group.data.description}>
        <DeleteGroup group={group.data} />
      </PageHead>
      <Paper withBorder p="md" maw={900}>
        <Form group={group.data} />
      </Paper>
      <Members groupId={id} />
    </>
  )
}

function Form({ group }: { readonly group: UserGroup }) {
  const client = useQueryClient()
  const may = useMay('user_groups', 'write')
  const { save, dialog } = useGuardedSave()
  const [loaded, setLoaded] = useState(group)
  const editable = (one: UserGroup) => groupIn(groupValues(one))
  return (
    <>
      {dialog}
      <RecordForm
        key={JSON.stringify(loaded)}
        guarded
        readOnly={!may}
        fields={groupFields(!may)}
        initial={groupValues(loaded)}
        done=""
        submit={async (values) => {
          const { outcome } = await save({
            loaded: editable(loaded),
            mine: groupIn(values),
            read: async () => editable(await readGroup(group.id)),
            write: (edit) => changeGroup(group.id, edit),
          })
          if (outcome === 'saved') notifyDone(say('part.saved'))
          return readGroup(group.id)
        }}
        onDone={async (stored) => {
          setLoaded(stored as UserGroup)
          await client.invalidateQueries({ queryKey: GROUPS_KEY })
        }}
      />
    </>
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
          client.removeQueries({ queryKey: [...GROUPS_KEY, group.id] })
          await navigate({ to: '/groups', replace: true })
          await client.invalidateQueries({ queryKey: GROUPS_KEY })
        }}
      />
    </>
  )
}
