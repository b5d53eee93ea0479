import { Button, Grid, Paper, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay, useSession } from '../../api/session.ts'
import { changeUser, deleteUser, readUser, USERS_KEY, type User, type UserEdit } from '../../api/users.ts'
import { ConfirmDelete } from '../../parts/confirm-delete.tsx'
import { isSame, useGuardedSave } from '../../parts/conflict.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { RecordForm } from '../../parts/record-form.tsx'
import { say } from '../../texts/say.ts'
import { nameOf } from './list.tsx'
import { CredentialCard, FactsCard, PasswordCard } from './side-cards.tsx'
import { useGroups, userFields, userIn, userValues } from './user-fields.tsx'

/** One user: who it is, what it may do, its credential and password. */
export default function OneUser() {
  const { id = '' } = useParams({ strict: false })
  const user = useQuery({ queryKey: [...USERS_KEY, id], queryFn: ({ signal }) => readUser(id, signal) })
  if (user.error !== null) return <FaultBox error={user.error} retry={() => void user.refetch()} />
  if (user.data === undefined) return <Skeleton h={400} />
  return <Page user={user.data} />
}

function Page({ user }: { readonly user: User }) {
  const may = useMay('users', 'write')
  return (
    <>
      <PageHead title={nameOf(user)} hint={user.email_address}>
        <DeleteUser user={user} />
      </PageHead>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Paper withBorder p="md">
            <Form user={user} readOnly={!may} />
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <CredentialCard user={user} />
          <PasswordCard user={user} />
          <FactsCard user={user} />
        </Grid.Col>
      </Grid>
    </>
  )
}

function Form({ user, readOnly }: { readonly user: User; readonly readOnly: boolean }) {
  const client = useQueryClient()
  const groups = useGroups()
  const { save, dialog } = useGuardedSave()
  // What is stored as editing begins; a newer state is taken over when it is saved or chosen.
  const [loaded, setLoaded] = useState(user)
  return (
    <>
      {dialog}
      <RecordForm
        key={JSON.stringify(editable(loaded))}
        guarded
        readOnly={readOnly}
        fields={userFields(groups, loaded, readOnly)}
        initial={userValues(loaded)}
        done=""
        submit={async (values) => {
          const edit = userIn(values)
          let stored = loaded
          const { outcome } = await save({
            loaded: editable(loaded),
            mine: edit,
            read: async () => {
              stored = await readUser(user.id)
              return editable(stored)
            },
            write: () => changeUser(user.id, differing(edit, stored)),
          })
          if (outcome === 'saved') notifyDone(say('part.saved'))
          return readUser(user.id)
        }}
        onDone={async (stored) => {
          setLoaded(stored as User)
          await client.invalidateQueries({ queryKey: USERS_KEY })
        }}
      />
    </>
  )
}

/** What of a user the form changes. */
function editable(user: User): Required<UserEdit> {
  return userIn(userValues(user))
}

/** What differs from what is stored. Rights that are not touched are not sent: others may know more of them than is shown. */
function differing(edit: Required<UserEdit>, stored: User): UserEdit {
  const before = editable(stored)
  return Object.fromEntries(
    Object.entries(edit).filter(([name, value]) => !isSame(value, before[name as keyof UserEdit])),
  )
}

function DeleteUser({ user }: { readonly user: User }) {
  const [asked, setAsked] = useState(false)
  const may = useMay('users', 'write')
  const session = useSession()
  const client = useQueryClient()
  const navigate = useNavigate()
  const isSelf = session.user.id === user.id
  if (!may && !isSelf) return null
  return (
    <>
      <Button
        color="red"
        variant="light"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        {say('users.delete')}
      </Button>
      <ConfirmDelete
        name={asked ? nameOf(user) : undefined}
        depends={`${say('users.deleteDepends')} ${isSelf ? say('users.deleteSelf') : ''}`}
        run={() => deleteUser(user.id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          client.removeQueries({ queryKey: [...USERS_KEY, user.id] })
          await navigate({ to: '/users', replace: true })
          await client.invalidateQueries({ queryKey: USERS_KEY })
        }}
      />
    </>
  )
}
