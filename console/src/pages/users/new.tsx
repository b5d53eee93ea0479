import { Paper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createUser, USERS_KEY } from '../../api/people/users.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { useGroups, userFields, userIn, userValues } from './user-fields.tsx'

/** Adds a user. */
export default function NewUser() {
  return (
    <>
      <PageHead title={say('users.new')} />
      <Guarded permission="users" intent="write">
        <Form />
      </Guarded>
    </>
  )
}

function Form() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const groups = useGroups()
  return (
    <Paper withBorder p="md" maw={900}>
      <RecordForm
        guarded
        fields={userFields(groups, undefined)}
        initial={userValues(undefined)}
        verb={say('users.new')}
        done={say('users.made')}
        submit={(values) => {
          const password = String(values.password ?? '')
          return createUser({ ...userIn(values), ...(password !== '' && { password }) })
        }}
        onDone={async (id) => {
          await client.invalidateQueries({ queryKey: USERS_KEY })
          await navigate({ to: `/users/${String(id)}` })
        }}
        onCancel={() => void navigate({ to: '/users' })}
      />
    </Paper>
  )
}
