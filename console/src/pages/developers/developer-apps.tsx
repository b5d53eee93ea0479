import { Code, Group, Stack, Text } from '@mantine/core'
import { AppWindowIcon } from 'lucide-react'
import type { App, Developer } from '../../api/portal/developers.ts'
import { Copy } from '../../parts/display/copy.tsx'
import { Empty } from '../../parts/display/empty.tsx'
import { When } from '../../parts/display/when.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { AppActions } from './app-actions.tsx'

const SHOWN = 12

interface Row {
  readonly policyId: string
  readonly app: App
}

/** OAuth apps of a developer. */
export function DeveloperApps({ developer }: { readonly developer: Developer }) {
  const rows = Object.entries(developer.oauth_clients).flatMap(([policyId, apps]) =>
    apps.map((app): Row => ({ policyId, app })),
  )
  const nameOf = usePolicyNames(rows.map(({ policyId }) => policyId))
  return (
    <DataTable
      label={say('portal.apps')}
      columns={columnsOf(nameOf)}
      rows={rows}
      rowKey={({ app }) => app.client_id}
      empty={<Empty icon={AppWindowIcon} title={say('portal.noApps')} hint={say('portal.noAppsHint')} />}
    />
  )
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Row>[] {
  return [
    { name: 'app', title: say('portal.app'), cell: ({ app }) => <Name app={app} /> },
    {
      name: 'policy',
      title: say('portal.policy'),
      cell: ({ policyId }) => <PolicyBadges ids={[policyId]} nameOf={nameOf} />,
    },
    {
      name: 'redirect',
      title: say('portal.redirect'),
      wideOnly: true,
      cell: ({ app }) => (app.redirect_uri === '' ? '–' : app.redirect_uri),
    },
    {
      name: 'made',
      title: say('portal.made'),
      wideOnly: true,
      width: 130,
      cell: ({ app }) => <When at={app.date_created} />,
    },
    { name: 'actions', title: say('part.actions'), width: 90, cell: ({ app }) => <AppActions app={app} /> },
  ]
}

function Name({ app }: { readonly app: App }) {
  return (
    <Stack gap={2} align="flex-start">
      {app.client_name && (
        <Text fw={550} size="sm" dir="auto">
          {app.client_name}
        </Text>
      )}
      <Group gap={2} wrap="nowrap">
        <Code>{app.client_id.slice(0, SHOWN)}…</Code>
        <Copy value={app.client_id} label={say('portal.copyClientId')} />
      </Group>
      {[app.app_description, app.use_case]
        .filter((text) => text !== '')
        .map((text) => (
          <Text key={text} size="xs" c="dimmed" lineClamp={2} dir="auto">
            {text}
          </Text>
        ))}
    </Stack>
  )
}
