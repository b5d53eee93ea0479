import { Alert, Paper, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { InfoIcon } from 'lucide-react'
import { APIS_KEY, type ApiView, type Definition, readApi, saveDefinition } from '../../../api/apis/apis.ts'
import { CallError } from '../../../api/calls/call.ts'
import { useMay } from '../../../api/people/session.ts'
import { faultsByField } from '../../../parts/editors/openapi-place.ts'
import { GuardedForm } from '../../../parts/forms/guarded-form.tsx'
import type { FormValues } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { authenticationOf, fieldPlaces, withAuthentication } from '../authentication/authentication.ts'
import { authenticationFields } from '../authentication/authentication-fields.tsx'
import { methodOf } from '../authentication/authentication-methods.ts'

/** How callers of an API say who they are: each way with its settings, and all of its authorization server. */
export default function AuthenticationTab({ api }: { readonly api: ApiView }) {
  const mayWrite = useMay('apis', 'write')
  const client = useQueryClient()
  const isOther = methodOf(api.classic) === 'other'
  const changed = (values: FormValues, { definition, classic }: Shapes): Definition =>
    withAuthentication(definition, api.isOas, authenticationOf(classic), values)
  return (
    <Stack maw={820}>
      {isOther && (
        <Alert color="yellow" icon={<InfoIcon aria-hidden />} title={say('apis.otherMethod')}>
          {say('apis.otherMethodHint')}
        </Alert>
      )}
      <Paper withBorder p="lg">
        <GuardedForm
          fields={authenticationFields(isOther)}
          object={{ kind: 'api', id: api.id }}
          stored={shapesOf(api)}
          valuesOf={({ classic }) => authenticationOf(classic)}
          changed={(values, loaded) => ({ definition: changed(values, loaded), classic: loaded.classic })}
          faultsOf={(error, values) =>
            error instanceof CallError
              ? faultsByField(error.message, fieldPlaces(changed(values, api), api.isOas, values))
              : {}
          }
          read={async () => shapesOf(await readApi(api.id))}
          write={({ definition }) => saveDefinition(api, definition)}
          edited={({ definition }) => definition}
          onDone={() => void client.invalidateQueries({ queryKey: APIS_KEY })}
          readOnly={!mayWrite}
        />
      </Paper>
    </Stack>
  )
}

type Shapes = Pick<ApiView, 'definition' | 'classic'>

/** The edited definition, and its classic form, from which the form is read. */
function shapesOf({ definition, classic }: ApiView): Shapes {
  return { definition, classic }
}
