import { Paper, Skeleton, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/people/session.ts'
import { PORTAL_MENUS_KEY, type PortalMenus, readPortalMenus, savePortalMenus } from '../../api/portal/portal-pages.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { say } from '../../texts/say.ts'
import { MENUS_FIELD, menusField, menusIn, menusText } from './menus-input.tsx'

/** The menus of the portal. */
export function SettingsMenus() {
  const { data, error, refetch } = useQuery({
    queryKey: PORTAL_MENUS_KEY,
    queryFn: ({ signal }) => readPortalMenus(signal),
  })
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }}>
      <Title order={2} size="h4">
        {say('portal.menus')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {say('portal.menusHint')}
      </Text>
      <FaultBox error={error} retry={refetch} />
      {data === undefined ? error === null && <Skeleton h={160} /> : <Form stored={data} />}
    </Paper>
  )
}

function Form({ stored }: { readonly stored: PortalMenus }) {
  const client = useQueryClient()
  const readOnly = !useMay('portal', 'write')
  return (
    <GuardedForm<PortalMenus>
      readOnly={readOnly}
      fields={[
        { kind: 'switch', name: 'is_active', label: say('portal.menusActive'), hint: say('portal.menusActiveHint') },
        menusField(readOnly),
      ]}
      stored={stored}
      valuesOf={({ is_active, menus }) => ({ is_active, [MENUS_FIELD]: menusText(menus) })}
      changed={(values, loaded) => ({
        ...loaded,
        is_active: values.is_active === true,
        menus: menusIn(values[MENUS_FIELD]),
      })}
      read={() => readPortalMenus()}
      write={savePortalMenus}
      onDone={() => void client.invalidateQueries({ queryKey: PORTAL_MENUS_KEY })}
    />
  )
}
