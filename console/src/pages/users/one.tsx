import { Button, Grid, Paper, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Trash2Icon } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { CallError } from '../../api/calls/call.ts'
import { useMay, useSession } from '../../api/people/session.ts'
import { changeUser, deleteUser, readUser, USERS_KEY, type User, type UserEdit } from '../../api/people/users.ts'
import { ObjectTabs } from '../../parts/display/object-tabs.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { isSame } from '../../parts/forms/same.ts'
import { History } from '../../parts/history/history.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { say } from '../../texts/say.ts'
import { nameOf } from './list.tsx'
import { CredentialCard, FactsCard, PasswordCard } from './side-cards.tsx'
import { useGroups, userFields, userIn, userValues } from './user-fields.tsx'
import { UserOverview } from './user-overview.tsx'

/** One user: who it is, what it may do, its credential and password. */
export default function OneUser() {
  const { id = '' } = useParams({ strict: false })
  const { data, error, refetch } = useQuery({
    queryKey: [...USERS_KEY, 'one', id],
    queryFn: ({ signal }) => readUser(id, signal),
  })
  if (error instanceof CallError && error.status === 403) return <NotForYou />
  if (error !== null) return <NotReadable error={error} retry={refetch} title={say('users.gone')} to="/users" />
  if (data === undefined) return <Skeleton h={400} />
  return <Page key={data.id} user={data} />
}

/** The own record opens without any permission, that of others does not. */
function NotForYou() {
  return (
    <Guarded permission="users" title={say('users.title')}>
      {null}
    </Guarded>
  )
}

function Page({ user }: { readonly user: User }) {
  const may = useMay('users', 'write')
  const maySeeHistory = useMay('audit_logs')
  return (
    <>
      <PageHead title={nameOf(user)} hint={user.email_address}>
        <DeleteUser user={user} />
      </PageHead>
      <ObjectTabs
        tabs={[
          { name: 'account', label: say('users.account'), panel: <Account user={user} readOnly={!may} /> },
          { name: 'overview', label: say('overview.title'), panel: <UserOverview user={user} /> },
          {
            name: 'history',
            label: say('history.title'),
            panel: <History kind="user" id={user.id} />,
            isHidden: !maySeeHistory,
          },
        ]}
      />
    </>
  )
}

function Account({ user, readOnly }: { readonly user: User; readonly readOnly: boolean }) {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 8 }}>
        <Paper withBorder p="md">
          <Form user={user} readOnly={readOnly} />
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <CredentialCard user={user} />
        <PasswordCard user={user} />
        <FactsCard user={user} />
      </Grid.Col>
    </Grid>
  )
}

function Form({ user, readOnly }: { readonly user: User; readonly readOnly: boolean }) {
  const client = useQueryClient()
  const groups = useGroups()
  const stored = useMemo(() => editable(user), [user])
  const latest = useRef(user)
  return (
    <GuardedForm<Required<UserEdit>>
      readOnly={readOnly}
      object={{ kind: 'user', id: user.id }}
      fields={userFields(groups, user, readOnly)}
      stored={stored}
      valuesOf={userValues}
      changed={userIn}
      read={async () => {
        latest.current = await readUser(user.id)
        return editable(latest.current)
      }}
      write={(edit) => changeUser(user.id, differing(edit, latest.current))}
      onDone={() => void client.invalidateQueries({ queryKey: USERS_KEY })}
    />
  )
}

/** The fields of a user that the form changes. */
function editable(user: User): Required<UserEdit> {
  return userIn(userValues(user))
}

/** The difference from the stored user. Untouched permissions are not sent: others may see more of them than is shown. */
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
          if (isSelf) return window.location.assign('/')
          await navigate({ to: '/users', replace: true })
          client.removeQueries({ queryKey: [...USERS_KEY, 'one', user.id] })
          await client.invalidateQueries({ queryKey: USERS_KEY })
        }}
      />
    </>
  )
}
