import { Paper, Skeleton, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/people/session.ts'
import {
  PORTAL_LOOK_KEY,
  type PortalLook,
  type PortalSettings,
  readPortalLook,
  savePortalLook,
} from '../../api/portal/portal-settings.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { type Field, type FormValue, RecordForm } from '../../parts/forms/record-form.tsx'
import { checkWebAddress } from '../../parts/portal/checks.ts'
import { useEdited } from '../../parts/portal/edited.ts'
import { say } from '../../texts/say.ts'
import { SettingsForm } from './settings-form.tsx'

/** Where the portal is reached, and its style sheets. */
export function SettingsLook({ settings }: { readonly settings: PortalSettings }) {
  const { data, error, refetch } = useQuery({
    queryKey: PORTAL_LOOK_KEY,
    queryFn: ({ signal }) => readPortalLook(signal),
  })
  return (
    <Stack>
      <SettingsForm
        settings={settings}
        members={['portal_url']}
        fields={[
          {
            kind: 'url',
            name: 'portal_url',
            label: say('portal.address'),
            hint: say('portal.addressHint'),
            placeholder: 'https://developers.example',
            check: checkWebAddress,
          },
        ]}
        toForm={({ portal_url }) => ({ portal_url })}
        fromForm={({ portal_url }) => ({ portal_url: String(portal_url).trim() })}
      />
      <FaultBox error={error} retry={refetch} />
      {data === undefined ? error === null && <Skeleton h={240} /> : <Look look={data} />}
    </Stack>
  )
}

function Look({ look }: { readonly look: PortalLook }) {
  const may = useMay('portal', 'write')
  const client = useQueryClient()
  const edited = useEdited(look, () => readPortalLook())
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} maw="56rem">
      {edited.dialog}
      <RecordForm
        key={edited.round}
        fields={FIELDS}
        initial={{ ...edited.loaded }}
        readOnly={!may}
        done=""
        guarded
        submit={({ cname, page_css, email_css, page_js }) =>
          edited.save(
            {
              cname: String(cname).trim(),
              page_css: String(page_css),
              email_css: String(email_css),
              page_js: String(page_js),
            },
            async (mine) => {
              await savePortalLook(edited.loaded, mine)
              await client.invalidateQueries({ queryKey: PORTAL_LOOK_KEY })
            },
          )
        }
      />
    </Paper>
  )
}

const FIELDS: readonly Field[] = [
  {
    kind: 'text',
    name: 'cname',
    label: say('portal.cname'),
    hint: say('portal.cnameHint'),
    placeholder: 'developers.example',
    check: checkHost,
  },
  {
    kind: 'area',
    name: 'page_css',
    rows: 6,
    isCode: true,
    label: say('portal.pageCss'),
    hint: say('portal.pageCssHint'),
  },
  { kind: 'area', name: 'email_css', rows: 4, isCode: true, label: say('portal.emailCss') },
  { kind: 'area', name: 'page_js', rows: 4, isCode: true, label: say('portal.pageJs'), hint: say('portal.pageJsHint') },
]

function checkHost(value: FormValue): string | undefined {
  return /[\s/]/.test(String(value).trim()) ? say('portal.cnameWrong') : undefined
}
