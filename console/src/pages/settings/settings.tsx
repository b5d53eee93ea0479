import { Alert, Badge, Code, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { InfoIcon, SearchXIcon } from 'lucide-react'
import { readSettings, SETTINGS_KEY, type Setting } from '../../api/platform/settings.ts'
import { useAddress } from '../../app/address.ts'
import { Copy } from '../../parts/display/copy.tsx'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'

const ABSENT = { q: '', from: 'all' } as const
const SOURCES = ['all', 'set', 'default'] as const

/** Every setting with its value and where it comes from; they are changed there, and by a restart. */
export default function Settings() {
  return (
    <Guarded permission="system" title={say('settings.title')}>
      <SettingsPage />
    </Guarded>
  )
}

function SettingsPage() {
  const [{ q, from }, setWords] = useAddress<'q' | 'from'>(ABSENT)
  const { data, error, refetch } = useQuery({ queryKey: SETTINGS_KEY, queryFn: readSettings, staleTime: 60_000 })
  const rows = data?.settings.filter((setting) => isFrom(setting, from) && holds(setting, q))
  return (
    <>
      <PageHead
        title={say('settings.title')}
        hint={data === undefined ? say('settings.hint') : say('settings.version', { version: data.version })}
      />
      <Stack>
        <Alert icon={<InfoIcon aria-hidden />} variant="light">
          {say('settings.how')}
        </Alert>
        <Group>
          <TextInput
            aria-label={say('part.searchIn')}
            placeholder={say('settings.search')}
            value={q}
            onChange={(event) => setWords({ q: event.currentTarget.value })}
            flex={1}
            miw={180}
          />
          <SegmentedControl
            aria-label={say('settings.source')}
            value={from}
            onChange={(value) => setWords({ from: value as (typeof SOURCES)[number] })}
            data={SOURCES.map((value) => ({ value, label: say(`settings.${value}`) }))}
          />
        </Group>
        <DataTable
          label={say('settings.title')}
          columns={COLUMNS}
          rows={rows}
          rowKey={({ path }) => path}
          error={error}
          retry={() => void refetch()}
          empty={<Empty icon={SearchXIcon} title={say('settings.none')} hint={say('settings.noneHint')} />}
        />
      </Stack>
    </>
  )
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    name: 'path',
    title: say('settings.name'),
    cell: (setting) => (
      <Stack gap={2}>
        <Text size="sm" fw={600} ff="monospace" className="wrap-anywhere">
          {setting.path}
        </Text>
        <Text size="xs" c="dimmed">
          <Purpose {...setting} />
        </Text>
      </Stack>
    ),
  },
  { name: 'value', title: say('settings.value'), width: '28%', cell: (setting) => <Value {...setting} /> },
  { name: 'from', title: say('settings.source'), width: '16%', cell: (setting) => <Source {...setting} /> },
  {
    name: 'env',
    title: say('settings.env'),
    wideOnly: true,
    width: '24%',
    cell: ({ env }) => (
      <Group gap={2} wrap="nowrap">
        <Code className="wrap-anywhere">{env}</Code>
        <Copy value={env} label={say('part.copyOf', { name: env })} />
      </Group>
    ),
  },
]

function Value({ value, secret, allowed }: Setting) {
  if (secret)
    return <Badge variant="default">{say(value === '""' ? 'settings.secretUnset' : 'settings.secretSet')}</Badge>
  if (value === '""' || value === '[]' || value === '{}')
    return (
      <Text size="sm" c="dimmed">
        {say('settings.empty')}
      </Text>
    )
  return (
    <Code className="wrap-anywhere" title={allowed}>
      {value}
    </Code>
  )
}

function Source({ from, source }: Setting) {
  if (from === 'default')
    return (
      <Text size="sm" c="dimmed">
        {say('settings.default')}
      </Text>
    )
  return (
    <Stack gap={2}>
      <Text size="sm" fw={600}>
        {say(from === 'env' ? 'settings.envFrom' : 'settings.file')}
      </Text>
      {from === 'file' && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {source}
        </Text>
      )}
    </Stack>
  )
}

/** The line of the docs; text in backticks is set as code. */
function Purpose({ description }: Setting) {
  return description.split('`').map((text, i) =>
    i % 2 === 0 ? (
      text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name and never change
      <Code key={i} fz="inherit">
        {text}
      </Code>
    ),
  )
}

function isFrom({ from }: Setting, wanted: string): boolean {
  return wanted === 'all' || (wanted === 'default') === (from === 'default')
}

function holds({ path, env, description }: Setting, q: string): boolean {
  const part = q.trim().toLowerCase()
  return [path, env, description].some((text) => text.toLowerCase().includes(part))
}
