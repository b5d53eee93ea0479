import { useState } from 'react'
import { type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { useGroups } from '../users/user-fields.tsx'
import { MappingTable } from './mapping-table.tsx'
import { generalFields, peopleFields, providerFields } from './profile-fields.ts'
import { type Kind, mappingIn, profileIn, profileValues } from './profile-values.ts'
import { AdminsWarning, Warning } from './warnings.tsx'

type Profile = Readonly<Record<string, unknown>>

/** The guided form of a profile. `submit` gets the whole profile: what the form does not know stays in it. */
export function ProfileForm(props: {
  readonly stored: Profile
  readonly kind: Kind
  readonly isNew: boolean
  readonly readOnly: boolean
  readonly submit: (profile: Profile) => Promise<unknown>
  readonly onDone: (answer: unknown) => void
  readonly onCancel?: () => void
}) {
  const { stored, kind, isNew, readOnly } = props
  const groups = useGroups()
  const [filled] = useState(() => filledNames(profileValues(stored, kind)))
  return (
    <RecordForm
      guarded
      readOnly={readOnly}
      fields={[
        ...generalFields(isNew),
        ...providerFields(kind, filled),
        {
          name: 'plain',
          label: '',
          kind: 'part',
          draw: ({ values }) =>
            kind === 'ldap' && values.encryption === 'none' ? <Warning title={say('identity.warnPlain')} /> : null,
        },
        ...peopleFields(groups, filled, {
          name: 'UserGroupMapping',
          label: say('identity.mapping'),
          kind: 'part',
          draw: (form) => (
            <MappingTable
              mapping={mappingIn(form.values)}
              groups={groups}
              readOnly={readOnly}
              onChange={(mapping) => form.setFieldValue('UserGroupMapping', JSON.stringify(mapping))}
            />
          ),
        }),
        {
          name: 'warning',
          label: '',
          kind: 'part',
          draw: ({ values }) => (isDecided(values) ? null : <AdminsWarning />),
        },
      ]}
      initial={{ ...profileValues(stored, kind), plain: '', warning: '', more: false }}
      done={isNew ? say('identity.made') : ''}
      verb={isNew ? say('identity.new') : say('part.save')}
      submit={(values) => props.submit(profileIn(values, stored, kind))}
      onDone={props.onDone}
      {...(props.onCancel && { onCancel: props.onCancel })}
    />
  )
}

/** Whether the profile itself says what people without a mapped group may do, or lets nobody into the dashboard. */
function isDecided({ DefaultUserGroupID, CustomUserGroupField, ActionType }: FormValues): boolean {
  return DefaultUserGroupID !== '' || CustomUserGroupField !== '' || ActionType === 'GenerateTemporaryAuthToken'
}

/** Initial values of untouched fields. */
const USUAL: Readonly<Record<string, string>> = { LDAPSearchScope: '2' }

/** Fields that are filled in: they are shown even if they are rarely needed. */
function filledNames(values: FormValues): ReadonlySet<string> {
  return new Set(Object.keys(values).filter((name) => String(values[name]) !== (USUAL[name] ?? '')))
}
