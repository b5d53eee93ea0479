import { Code, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRoundIcon } from 'lucide-react'
import { DEVELOPERS_KEY, type Developer, type DeveloperKey, listDeveloperKeys } from '../../api/portal/developers.ts'
import { Copy } from '../../parts/display/copy.tsx'
import { Empty } from '../../parts/display/empty.tsx'
import { count, When } from '../../parts/display/when.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { StateDot } from '../../parts/portal/state.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { KeyActions } from './key-actions.tsx'
import { keyName } from './key-name.ts'

const COLOURS = { active: 'green', inactive: 'gray', expired: 'red', rotated: 'yellow' } as const

/** Keys of a developer: what they are for, how much is left, when they were last used. */
export function DeveloperKeys({ developer }: { readonly developer: Developer }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...DEVELOPERS_KEY, 'one', developer.id, 'keys'],
    queryFn: ({ signal }) => listDeveloperKeys(developer.id, signal),
  })
  const nameOf = usePolicyNames((data ?? []).flatMap(({ policies }) => policies))
  return (
    <DataTable
      label={say('shell.keys')}
      columns={columnsOf(developer, nameOf)}
      rows={data}
      rowKey={({ key_id }) => key_id}
      error={error}
      retry={refetch}
      empty={<Empty icon={KeyRoundIcon} title={say('portal.noKeys')} hint={say('portal.noKeysHint')} />}
    />
  )
}

function columnsOf(developer: Developer, nameOf: (id: string) => string): readonly Column<DeveloperKey>[] {
  return [
    { name: 'key', title: say('portal.key'), cell: (key) => <Name developer={developer} entry={key} /> },
    {
      name: 'policies',
      title: say('portal.policies'),
      cell: ({ policies }) => <PolicyBadges ids={policies} nameOf={nameOf} />,
    },
    {
      name: 'quota',
      title: say('portal.quota'),
      wideOnly: true,
      width: 170,
      cell: (key) => <Quota entry={key} />,
    },
    {
      name: 'used',
      title: say('portal.lastUsed'),
      wideOnly: true,
      width: 120,
      cell: ({ last_used }) => <When at={last_used} />,
    },
    {
      name: 'expires',
      title: say('portal.expires'),
      wideOnly: true,
      width: 120,
      cell: ({ expires }) => <When at={expires} />,
    },
    {
      name: 'actions',
      title: say('part.actions'),
      width: 90,
      cell: (key) => <KeyActions developer={developer} entry={key} />,
    },
  ]
}

function Name({ developer, entry }: { readonly developer: Developer; readonly entry: DeveloperKey }) {
  const fields = ownFields(developer, entry)
  return (
    <Stack gap={4} align="flex-start">
      <Group gap={2} wrap="nowrap">
        <Code>{keyName(entry)}…</Code>
        <Copy value={entry.key_id} label={say('portal.copyHash')} />
      </Group>
      <Group gap={6}>
        <StateDot colour={COLOURS[entry.status]} text={say(`portal.status.${entry.status}`)} />
        {entry.status === 'rotated' && (
          <Text size="xs" c="dimmed">
            {say('portal.endsAt')} <When at={entry.valid_until} />
          </Text>
        )}
      </Group>
      {fields.map(([name, value]) => (
        <Text key={name} size="xs" c="dimmed" lineClamp={1} dir="auto">
          {name}: {value}
        </Text>
      ))}
    </Stack>
  )
}

/** Fields of the key itself; those copied from the developer are shown above already. */
function ownFields(developer: Developer, { fields }: DeveloperKey): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '' || name.endsWith('developer_id')) return []
    return developer.fields[name] === value ? [] : [[name, value] as const]
  })
}

function Quota({ entry }: { readonly entry: DeveloperKey }) {
  const { quota_max: most, quota_remaining: left, quota_renews: renews } = entry
  if (most <= 0) return <Text size="sm">{say('portal.unlimited')}</Text>
  const used = Math.max(0, most - left)
  const part = Math.min(100, (used / most) * 100)
  const colour = part >= 100 ? 'red' : part >= 80 ? 'orange' : undefined
  return (
    <Stack gap={4}>
      <Text size="sm" className="number" ta="left">
        {say('portal.usedOf', { used: count(used), most: count(most) })}
      </Text>
      <Progress value={part} {...(colour && { color: colour })} size="sm" aria-label={say('portal.quota')} />
      {renews > 0 && (
        <Text size="xs" c="dimmed">
          {say('portal.renews')} <When at={renews} />
        </Text>
      )}
    </Stack>
  )
}
