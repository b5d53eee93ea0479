import { Paper, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createDeveloper, DEVELOPERS_KEY } from '../../api/portal/developers.ts'
import { PORTAL_SETTINGS_KEY, readPortalSettings } from '../../api/portal/portal-settings.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { checkEmail } from '../../parts/portal/checks.ts'
import { say } from '../../texts/say.ts'
import { namesOf } from './names-input.tsx'
import { pairsField, pairsOf, textsOf } from './pairs-input.tsx'

/** Adds a developer by hand, with the fields that a sign-up asks for. */
export default function NewDeveloper() {
  return (
    <Guarded permission="portal" intent="write" title={say('shell.newDeveloper')}>
      <NewOne />
    </Guarded>
  )
}

function NewOne() {
  const { data, error } = useQuery({
    queryKey: PORTAL_SETTINGS_KEY,
    queryFn: ({ signal }) => readPortalSettings(signal),
  })
  return (
    <>
      <PageHead title={say('shell.newDeveloper')} hint={say('portal.newDeveloperHint')} />
      <Paper withBorder p="lg" maw="44rem">
        <FaultBox error={error} />
        {data === undefined ? error === null && <Skeleton h={260} /> : <Form asked={namesOf(data.signup_fields)} />}
      </Paper>
    </>
  )
}

function Form({ asked }: { readonly asked: readonly string[] }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const fields = asked.length === 0 ? ['Name'] : asked
  return (
    <RecordForm
      fields={[
        {
          kind: 'email',
          name: 'email',
          label: say('portal.email'),
          hint: say('portal.emailHint'),
          required: true,
          autoComplete: 'off',
          check: checkEmail,
        },
        {
          kind: 'password',
          name: 'password',
          label: say('portal.password'),
          hint: say('portal.passwordLater'),
          autoComplete: 'new-password',
        },
        pairsField('fields', say('portal.customFields'), say('portal.customFieldsHint')),
      ]}
      initial={{ email: '', password: '', fields: pairsOf({}, fields) }}
      verb={say('shell.newDeveloper')}
      done={say('portal.developerAdded')}
      guarded
      submit={(values) => createDeveloper(bodyOf(values))}
      onDone={async (id) => {
        await client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
        void navigate({ to: `/developers/${id}`, replace: true, ignoreBlocker: true })
      }}
      onCancel={() => void navigate({ to: '/developers' })}
    />
  )
}

function bodyOf({ email, password, fields }: FormValues): Record<string, unknown> {
  return { email: String(email).trim(), fields: textsOf(fields), ...(password !== '' && { password }) }
}
