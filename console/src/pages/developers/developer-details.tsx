import { Paper } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/people/session.ts'
import { changeDeveloper, DEVELOPERS_KEY, type Developer, readDeveloper } from '../../api/portal/developers.ts'
import { PORTAL_SETTINGS_KEY, readPortalSettings } from '../../api/portal/portal-settings.ts'
import type { PlainField } from '../../parts/forms/fields.ts'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { membersFrom, valuesFrom } from '../../parts/forms/record-values.ts'
import { checkEmail } from '../../parts/portal/checks.ts'
import { useEdited } from '../../parts/portal/edited.ts'
import { say } from '../../texts/say.ts'
import { namesOf } from './names-input.tsx'
import { pairsField, pairsOf, textsOf } from './pairs-input.tsx'

/** Members of a developer that a field of the same name holds. */
const plainFields = (): readonly PlainField[] => [
  { kind: 'switch', name: 'inactive', label: say('portal.isInactive'), hint: say('portal.isInactiveHint') },
]

interface Editable {
  readonly email: string
  /** Those of `plainFields`. */
  readonly plain: Readonly<Record<string, unknown>>
  readonly fields: Readonly<Record<string, string>>
}

/** The editable fields of a developer. */
export function DeveloperDetails({ developer }: { readonly developer: Developer }) {
  const { data, isPending } = useQuery({
    queryKey: PORTAL_SETTINGS_KEY,
    queryFn: ({ signal }) => readPortalSettings(signal),
  })
  if (isPending) return null
  return <Form developer={developer} asked={namesOf(data?.signup_fields ?? [])} />
}

function Form({ developer, asked }: { readonly developer: Developer; readonly asked: readonly string[] }) {
  const client = useQueryClient()
  const may = useMay('portal', 'write')
  const { id } = developer
  const edited = useEdited(editable(developer), async () => editable(await readDeveloper(id)))
  const { loaded } = edited
  return (
    <Paper withBorder p="lg" maw="44rem">
      {edited.dialog}
      <RecordForm
        key={edited.round}
        fields={[
          { kind: 'email', name: 'email', label: say('portal.email'), required: true, check: checkEmail },
          ...plainFields(),
          pairsField('fields', say('portal.customFields'), say('portal.customFieldsHint')),
        ]}
        initial={{
          email: loaded.email,
          ...valuesFrom(plainFields(), loaded.plain),
          fields: pairsOf(loaded.fields, asked),
        }}
        readOnly={!may}
        done=""
        guarded
        submit={({ email, fields, ...values }) =>
          edited.save(
            { email: String(email).trim(), plain: membersFrom(plainFields(), values), fields: textsOf(fields) },
            async ({ plain, ...mine }) => {
              const stored = editable(await readDeveloper(id))
              await changeDeveloper(id, { ...mine, ...plain, fields: patchOf(stored.fields, mine.fields) })
              await client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
            },
          )
        }
      />
    </Paper>
  )
}

function editable(developer: Developer): Editable {
  const { email, fields } = developer
  const plain = membersFrom(plainFields(), valuesFrom(plainFields(), { ...developer }))
  const filled = Object.entries(fields).filter(([, value]) => value !== '')
  return { email, plain, fields: Object.fromEntries(filled) }
}

/** The fields to set, and null for those to take away. */
function patchOf(before: Editable['fields'], after: Editable['fields']): Record<string, string | null> {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...after }
}
