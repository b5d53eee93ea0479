import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { KEYS_KEY, type KeyEntry, type KeyQuery, listKeys } from '../../api/keys.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Pager } from '../../parts/pager.tsx'
import { QuotaGauge } from '../../parts/quota-gauge.tsx'
import { When } from '../../parts/when.tsx'
import { say } from '../../texts/say.ts'
import { PolicyBadges, usePolicyNames } from '../portal/policy-names.tsx'
import { hasQuotaPerApi, nameOfKey, STATE_COLOURS } from './key-words.ts'

/** A page of keys: how they stand, what gives them rights, what is left of their quotas. */
export function KeyTable(props: {
  readonly query: KeyQuery
  readonly onPage: (page: number) => void
  readonly empty: ReactNode
}) {
  const { query } = props
  const { data, error, refetch } = useQuery({
    queryKey: [...KEYS_KEY, 'list', query],
    queryFn: ({ signal }) => listKeys(query, signal),
    placeholderData: keepPreviousData,
  })
  const nameOf = usePolicyNames((data?.keys ?? []).flatMap(({ facts }) => facts.policies))
  return (
    <>
      <DataTable
        label={say('keys.title')}
        columns={columnsOf(nameOf)}
        rows={data?.keys}
        rowKey={({ key_hash }) => key_hash}
        error={error}
        retry={() => void refetch()}
        empty={props.empty}
      />
      <Pager page={query.p} pages={data?.pages ?? 1} onPage={props.onPage} />
    </>
  )
}

function columnsOf(policyName: (id: string) => string): readonly Column<KeyEntry>[] {
  return [
    { name: 'name', title: say('keys.name'), width: '32%', cell: (entry) => <Name entry={entry} /> },
    { name: 'access', title: say('keys.access'), cell: (entry) => <Access entry={entry} policyName={policyName} /> },
    {
      name: 'quota',
      title: say('keys.quota'),
      wideOnly: true,
      width: 170,
      cell: ({ data }) =>
        hasQuotaPerApi(data) ? <Text size="sm">{say('keys.perApi')}</Text> : <QuotaGauge limits={data} />,
    },
    {
      name: 'used',
      title: say('keys.lastUsed'),
      wideOnly: true,
      width: 125,
      cell: ({ facts }) => <When at={facts.last_used} />,
    },
    {
      name: 'expires',
      title: say('keys.expires'),
      wideOnly: true,
      width: 125,
      cell: ({ data }) => <When at={data.expires} />,
    },
  ]
}

function Name({ entry }: { readonly entry: KeyEntry }) {
  const { data, key_hash: hash } = entry
  return (
    <Stack gap={4} align="flex-start">
      <Anchor component={Link} to={`/keys/${hash}`} size="sm" fw={550} dir="auto" lineClamp={2} miw={110}>
        {nameOfKey(entry)}
      </Anchor>
      <Group gap={6}>
        <KeyState entry={entry} />
        {data.user_name !== undefined && (
          <Badge variant="default" size="sm" tt="none">
            {say('keys.user')}
          </Badge>
        )}
      </Group>
    </Stack>
  )
}

/** How a key stands. */
export function KeyState({ entry: { facts } }: { readonly entry: Pick<KeyEntry, 'facts'> }) {
  return (
    <Badge variant="light" color={STATE_COLOURS[facts.status]} size="sm" tt="none">
      {say(`keys.${facts.status}`)}
    </Badge>
  )
}

function Access(props: { readonly entry: KeyEntry; readonly policyName: (id: string) => string }) {
  const { data, facts } = props.entry
  if (facts.policies.length > 0) return <PolicyBadges ids={facts.policies} nameOf={props.policyName} />
  const rights = Object.values(data.access_rights ?? {})
  if (rights.length === 0) return <Text size="sm">{say('keys.noRights')}</Text>
  const text = rights.length === 1 ? say('keys.ownRightOne') : say('keys.ownRights', { count: rights.length })
  return (
    <Stack gap={0}>
      <Text size="sm">{text}</Text>
      <Text size="xs" c="dimmed" lineClamp={1} dir="auto">
        {rights.map(({ api_id, api_name }) => api_name || api_id).join(', ')}
      </Text>
    </Stack>
  )
}
