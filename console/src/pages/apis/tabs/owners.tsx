import { Alert, Paper, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { InfoIcon } from 'lucide-react'
import {
  APIS_KEY,
  type ApiView,
  apiKey,
  listPossibleOwners,
  readApiOwners,
  saveApiOwners,
} from '../../../api/apis/apis.ts'
import { useMay, useSession } from '../../../api/people/session.ts'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { GuardedForm } from '../../../parts/forms/guarded-form.tsx'
import type { Choice, FormValue } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'

/** Who owns an API. */
export default function OwnersTab({ api }: { readonly api: ApiView }) {
  const key = [...apiKey(api.id), 'access']
  const may = { users: useMay('users'), groups: useMay('user_groups') }
  const mayWrite = useMay('apis', 'write')
  const client = useQueryClient()
  const { user } = useSession()
  const access = useQuery({ queryKey: key, queryFn: ({ signal }) => readApiOwners(api.id, signal) })
  const people = useQuery({
    queryKey: ['apis', 'owners', may.users, may.groups],
    queryFn: ({ signal }) => listPossibleOwners(may, signal),
    staleTime: 60_000,
  })
  if (access.data === undefined || people.data === undefined) {
    const error = access.error ?? people.error
    return error === null ? null : <FaultBox error={error} retry={() => void access.refetch()} />
  }
  const loaded = access.data
  // Who may not list users knows at least one of them.
  const users = (may.users ? people.data.users : [user]).map((each) => ({ value: each.id, label: personName(each) }))
  const groups = people.data.groups.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Stack maw={720}>
      <Text size="sm" c="dimmed">
        {say('apis.ownersHint')}
      </Text>
      {loaded.userIds.length + loaded.userGroupIds.length === 0 && (
        <Alert icon={<InfoIcon aria-hidden />} color="gray" title={say('apis.noOwners')}>
          {say('apis.noOwnersHint')}
        </Alert>
      )}
      <Paper withBorder p="lg">
        <GuardedForm
          readOnly={!mayWrite}
          fields={[
            ownerField('userIds', say('apis.ownerUsers'), withUnknown(users, loaded.userIds)),
            ownerField('userGroupIds', say('apis.ownerGroups'), withUnknown(groups, loaded.userGroupIds)),
          ]}
          stored={loaded}
          valuesOf={({ userIds, userGroupIds }) => ({ userIds, userGroupIds })}
          changed={(values) => ({ userIds: idsIn(values.userIds), userGroupIds: idsIn(values.userGroupIds) })}
          read={() => readApiOwners(api.id)}
          write={(mine) => saveApiOwners(api.id, mine)}
          onDone={() => void client.invalidateQueries({ queryKey: APIS_KEY })}
        />
      </Paper>
    </Stack>
  )
}

const ownerField = (name: string, label: string, choices: readonly Choice[]) =>
  ({ name, kind: 'choices', label, choices }) as const

const idsIn = (value: FormValue | undefined): string[] => (Array.isArray(value) ? [...value] : [])

/** A deleted user, or one that the reader may not list, stays in the list. */
function withUnknown(choices: readonly Choice[], ids: readonly string[]): readonly Choice[] {
  const known = new Set(choices.map(({ value }) => value))
  return [...choices, ...ids.filter((id) => !known.has(id)).map((id) => ({ value: id, label: id }))]
}

function personName(user: { readonly email_address: string; readonly first_name: string; readonly last_name: string }) {
  const name = `${user.first_name} ${user.last_name}`.trim()
  return name === '' ? user.email_address : `${name} (${user.email_address})`
}
