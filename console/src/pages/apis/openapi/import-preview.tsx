import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import type { Definition } from '../../../api/apis/apis.ts'
import { count } from '../../../parts/display/when.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'
import { at, EXTENSION, textAt } from '../editor/tree.ts'
import { Method } from '../operations/operations.tsx'
import { type Compared, compareOperations, type Operation, operationsOf } from './openapi-operations.ts'

/** A preview of the API that an import creates. */
export function Preview({ document }: { readonly document: Definition }) {
  const operations = useMemo(() => operationsOf(document), [document])
  const facts = [
    ['apis.name', textAt(document, [EXTENSION, 'info', 'name'])],
    ['apiSet.listenPath', textAt(document, [EXTENSION, 'server', 'listenPath', 'value'])],
    ['apiSet.upstream', textAt(document, [EXTENSION, 'upstream', 'url'])],
    ['apis.authentication', authOf(document)],
  ] as const
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Title order={2} size="h4">
          {say('apis.willExist')}
        </Title>
        <Group gap="xl">
          {facts.map(([name, value]) => (
            <Stack key={name} gap={0}>
              <Text size="xs" c="dimmed">
                {say(name)}
              </Text>
              <Text fw={600} size="sm" className="wrap-anywhere" dir="auto">
                {value}
              </Text>
            </Stack>
          ))}
        </Group>
        <Text fw={600} size="sm">
          {say('apis.operationsCount', { count: count(operations.length) })}
        </Text>
        <DataTable
          label={say('apis.operations')}
          columns={COLUMNS()}
          rows={operations}
          rowKey={({ key }) => key}
          drawAll={40}
          empty={
            <Text size="sm" c="dimmed">
              {say('apis.noOperationsImport')}
            </Text>
          }
        />
      </Stack>
    </Paper>
  )
}

function authOf(document: Definition): string {
  const place = [EXTENSION, 'server', 'authentication']
  if (at(document, [...place, 'enabled']) !== true) return say('apis.authType.keyless')
  const schemes = at(document, [...place, 'securitySchemes'])
  return Object.keys(typeof schemes === 'object' && schemes !== null ? schemes : {}).join(', ')
}

const COLUMNS = (): readonly Column<Operation>[] => [
  { name: 'method', title: say('apis.method'), width: 100, cell: ({ method }) => <Method method={method} /> },
  { name: 'path', title: say('apis.path'), cell: ({ path }) => path },
  { name: 'summary', title: say('apis.summary'), wideOnly: true, cell: ({ summary, id }) => summary || id },
]

const CHANGE_COLOUR = { added: 'teal', changed: 'blue', removed: 'red', same: 'gray' } as const

/** The changes of an import over an API: operations added, changed and removed, and the gateway settings that are kept. */
export function Changes({ before, after }: { readonly before: Definition; readonly after: Definition }) {
  const compared = useMemo(() => compareOperations(before, after), [before, after])
  const number = (change: Compared['change']) => compared.filter((each) => each.change === change).length
  const kept = (state: Compared['kept']) => compared.filter((each) => each.kept === state)
  const lost = kept('lost')
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Title order={2} size="h4">
          {say('apis.whatChanges')}
        </Title>
        <Group gap="xs">
          {(['added', 'changed', 'removed', 'same'] as const).map((change) => (
            <Badge
              key={change}
              variant="light"
              color={CHANGE_COLOUR[change]}
              c="var(--mantine-color-text)"
              size="lg"
              tt="none"
            >
              {say(`apis.change.${change}`, { count: count(number(change)) })}
            </Badge>
          ))}
        </Group>
        <Text size="sm">{say('apis.keptHint', { count: count(kept('kept').length) })}</Text>
        {lost.length > 0 && (
          <Text size="sm" c="red" className="wrap-anywhere">
            {say('apis.lostHint', { names: lost.map(({ method, path }) => `${method} ${path}`).join(', ') })}
          </Text>
        )}
        <DataTable
          label={say('apis.whatChanges')}
          columns={CHANGED()}
          rows={compared}
          rowKey={({ key, change }) => `${change} ${key}`}
          drawAll={40}
          empty={null}
        />
      </Stack>
    </Paper>
  )
}

const CHANGED = (): readonly Column<Compared>[] => [
  {
    ...{ name: 'change', title: say('apis.change'), width: 130 },
    cell: ({ change }) => (
      <Badge variant="light" color={CHANGE_COLOUR[change]} c="var(--mantine-color-text)" tt="none">
        {say(`apis.changed.${change}`)}
      </Badge>
    ),
  },
  ...COLUMNS(),
  { name: 'kept', title: say('apis.settings'), cell: ({ kept }) => (kept === 'none' ? '–' : say(`apis.kept.${kept}`)) },
]
