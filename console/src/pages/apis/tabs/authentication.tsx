import { Alert, Paper, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { InfoIcon } from 'lucide-react'
import { APIS_KEY, type ApiSeen, readApi, saveDefinition } from '../../../api/apis.ts'
import { useMay } from '../../../api/session.ts'
import { useGuardedSave } from '../../../parts/conflict.tsx'
import { type FormValues, RecordForm } from '../../../parts/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { authenticationOf, methodOf, withAuthentication } from '../authentication.ts'
import { authenticationFields } from '../authentication-fields.tsx'

/** How callers of an API say who they are, and all settings of its authorization server. */
export default function AuthenticationTab({ api }: { readonly api: ApiSeen }) {
  const mayWrite = useMay('apis', 'write')
  const client = useQueryClient()
  const { save, dialog } = useGuardedSave()
  const initial = authenticationOf(api.classic)
  const isOther = methodOf(api.classic) === 'other'
  const submit = async (values: FormValues) => {
    const mine = withAuthentication(api.definition, api.isOas, initial, values)
    const read = async () => (await readApi(api.id)).definition
    await save({ loaded: api.definition, mine, read, write: (definition) => saveDefinition(api, definition) })
    await client.invalidateQueries({ queryKey: APIS_KEY })
  }
  return (
    <Stack maw={820}>
      {dialog}
      {isOther && (
        <Alert color="yellow" icon={<InfoIcon aria-hidden />} title={say('apis.otherMethod')}>
          {say('apis.otherMethodHint')}
        </Alert>
      )}
      <Paper withBorder p="lg">
        <RecordForm
          key={`${api.updatedAt} ${JSON.stringify(initial)}`}
          fields={authenticationFields(isOther)}
          initial={initial}
          submit={submit}
          readOnly={!mayWrite}
          guarded
        />
      </Paper>
    </Stack>
  )
}
