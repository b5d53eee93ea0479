import { Paper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/people/session.ts'
import {
  PORTAL_SETTINGS_KEY,
  type PortalSettings,
  readPortalSettings,
  savePortalSettings,
} from '../../api/portal/portal-settings.ts'
import { type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { useEdited } from '../../parts/portal/edited.ts'

/** A form about some members of the portal's settings; the others stay as they are. */
export function SettingsForm<Name extends keyof PortalSettings>(props: {
  readonly settings: PortalSettings
  readonly members: readonly Name[]
  readonly fields: Parameters<typeof RecordForm>[0]['fields']
  readonly toForm: (part: Pick<PortalSettings, Name>) => FormValues
  readonly fromForm: (values: FormValues, loaded: Pick<PortalSettings, Name>) => Pick<PortalSettings, Name>
}) {
  const { members } = props
  const may = useMay('portal', 'write')
  const client = useQueryClient()
  const edited = useEdited(partOf(props.settings, members), async () => partOf(await readPortalSettings(), members))
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} maw="56rem">
      {edited.dialog}
      <RecordForm
        key={edited.round}
        fields={props.fields}
        initial={props.toForm(edited.loaded)}
        readOnly={!may}
        done=""
        guarded
        submit={(values) =>
          edited.save(props.fromForm(values, edited.loaded), async (mine) => {
            await savePortalSettings(mine)
            await client.invalidateQueries({ queryKey: PORTAL_SETTINGS_KEY })
          })
        }
      />
    </Paper>
  )
}

function partOf<Name extends keyof PortalSettings>(settings: PortalSettings, members: readonly Name[]) {
  return Object.fromEntries(members.map((name) => [name, settings[name]])) as Pick<PortalSettings, Name>
}
