import type { GroupEdit } from '../../api/people/groups.ts'
import type { Rights } from '../../api/people/users.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { PermissionMatrix } from '../users/permission-matrix.tsx'

/** The fields of a group. */
export function groupFields(readOnly: boolean): readonly (Field | { readonly heading: string })[] {
  return [
    { name: 'name', label: say('groups.name'), kind: 'text', required: true, autoComplete: 'off' },
    { name: 'description', label: say('groups.description'), kind: 'text', autoComplete: 'off' },
    {
      name: 'password_max_days',
      label: say('users.passwordMaxDays'),
      hint: say('groups.passwordMaxDaysHint'),
      kind: 'number',
      min: 0,
      max: 36_500,
      unit: say('users.days'),
    },
    { name: 'active', label: say('groups.isActive'), hint: say('groups.isActiveHint'), kind: 'switch' },
    { heading: say('users.rightsHeading') },
    {
      name: 'user_permissions',
      label: say('users.rightsHeading'),
      kind: 'part',
      draw: (form) => (
        <PermissionMatrix
          isGroup
          rights={JSON.parse(String(form.values.user_permissions)) as Rights}
          readOnly={readOnly}
          onChange={(rights) => form.setFieldValue('user_permissions', JSON.stringify(rights))}
        />
      ),
    },
  ]
}

/** The initial form values. */
export function groupValues(group: Required<GroupEdit> | undefined): FormValues {
  return {
    name: group?.name ?? '',
    description: group?.description ?? '',
    password_max_days: group?.password_max_days ?? 0,
    active: group?.active ?? true,
    user_permissions: JSON.stringify(group?.user_permissions ?? { IsAdmin: 'false' }),
  }
}

/** The group in the form. */
export function groupIn(values: FormValues): Required<GroupEdit> {
  return {
    name: String(values.name).trim(),
    description: String(values.description).trim(),
    password_max_days: Number(values.password_max_days || 0),
    active: values.active === true,
    user_permissions: JSON.parse(String(values.user_permissions)) as Rights,
  }
}
