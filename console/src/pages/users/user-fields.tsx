import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ALL, GROUPS_KEY, listGroups, type UserGroup } from '../../api/people/groups.ts'
import { useMay } from '../../api/people/session.ts'
import type { Rights, User, UserEdit } from '../../api/people/users.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { PermissionMatrix } from './permission-matrix.tsx'

type Fields = readonly (Field | { readonly heading: string; readonly hint?: string })[]

/** All groups that a user may be put into; none if the reader may not see groups. */
export function useGroups(): readonly UserGroup[] {
  const may = useMay('user_groups')
  const groups = useQuery({
    queryKey: [...GROUPS_KEY, ALL],
    queryFn: ({ signal }) => listGroups(ALL, signal),
    enabled: may,
  })
  return groups.data?.groups ?? []
}

/** The fields of a user; a new one (`own` undefined) may be given a password. */
export function userFields(groups: readonly UserGroup[], own: User | undefined, readOnly = false): Fields {
  const choices = [
    { value: '', label: say('users.groupNone') },
    ...groups.map(({ id, name }) => ({ value: id, label: name })),
    // A group that the person who looks may not see.
    ...(own !== undefined && own.group_id !== '' && !groups.some(({ id }) => id === own.group_id)
      ? [{ value: own.group_id, label: own.group_name || own.group_id }]
      : []),
  ]
  return [
    { name: 'first_name', label: say('users.firstName'), kind: 'text', autoComplete: 'off' },
    { name: 'last_name', label: say('users.lastName'), kind: 'text', autoComplete: 'off' },
    {
      name: 'email_address',
      label: say('users.email'),
      hint: say('users.emailHint'),
      kind: 'email',
      required: true,
      autoComplete: 'off',
    },
    ...(own === undefined ? [PASSWORD] : []),
    {
      name: 'password_max_days',
      label: say('users.passwordMaxDays'),
      hint: say('users.passwordMaxDaysHint'),
      kind: 'number',
      min: 0,
      max: 36_500,
      unit: say('users.days'),
    },
    { name: 'active', label: say('users.isActive'), hint: say('users.isActiveHint'), kind: 'switch' },
    { name: 'group_id', label: say('users.group'), hint: say('users.groupHint'), kind: 'choice', choices },
    { heading: say('users.rightsHeading') },
    {
      name: 'user_permissions',
      label: say('users.rightsHeading'),
      kind: 'part',
      draw: (form) => (
        <>
          <GroupRules name={choices.find(({ value }) => value !== '' && value === form.values.group_id)?.label} />
          <PermissionMatrix
            rights={rightsIn(form.values)}
            readOnly={readOnly}
            onChange={(rights) => form.setFieldValue('user_permissions', JSON.stringify(rights))}
          />
        </>
      ),
    },
  ]
}

const PASSWORD: Field = {
  name: 'password',
  label: say('users.password'),
  hint: say('users.passwordHint'),
  kind: 'password',
  autoComplete: 'new-password',
}

function GroupRules({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null
  return (
    <Alert color="blue">
      <Text size="sm" className="wrap-anywhere">
        {say('users.groupReplaces', { name })}
      </Text>
    </Alert>
  )
}

/** Permissions as form values. */
function rightsIn(values: FormValues): Rights {
  return JSON.parse(String(values.user_permissions)) as Rights
}

/** The initial form values. */
export function userValues(user: Required<UserEdit> | undefined): FormValues {
  return {
    first_name: user?.first_name ?? '',
    last_name: user?.last_name ?? '',
    email_address: user?.email_address ?? '',
    ...(user === undefined && { password: '' }),
    password_max_days: user?.password_max_days ?? 0,
    active: user?.active ?? true,
    group_id: user?.group_id ?? '',
    user_permissions: JSON.stringify(user?.user_permissions ?? { IsAdmin: 'false' }),
  }
}

/** The user in the form. */
export function userIn(values: FormValues): Required<UserEdit> {
  return {
    first_name: String(values.first_name).trim(),
    last_name: String(values.last_name).trim(),
    email_address: String(values.email_address).trim(),
    password_max_days: Number(values.password_max_days || 0),
    active: values.active === true,
    group_id: String(values.group_id ?? ''),
    user_permissions: rightsIn(values),
  }
}
