import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { KEYS_KEY, type KeyEntry, type KeyQuery, listKeys } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { QuotaGauge } from '../../parts/display/quota-gauge.tsx'
import { When } from '../../parts/display/when.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { type BulkActions, useBulkActions } from '../../parts/tables/bulk-actions.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { pageSizeIn } from '../../parts/tables/pager.tsx'
import { useSelection } from '../../parts/tables/selection.ts'
import { say } from '../../texts/say.ts'
import { keyActions } from './bulk-keys.ts'
import { hasQuotaPerApi, nameOfKey, STATE_COLOURS } from './key-labels.ts'
import { isOfCertificate } from './key-proofs.ts'

/** A page of keys: their state, access and remaining quota. */
export function KeyTable(props: {
  readonly query: KeyQuery
  /** As the address has it. */
  readonly size: string
  readonly onPage: (page: number) => void
  readonly onSize: (size: string) => void
  readonly empty: ReactNode
}) {
  const size = pageSizeIn(props.size)
  const query = { ...props.query, page_size: size }
  const client = useQueryClient()
  const mayWrite = useMay('keys', 'write')
  const selection = useSelection(hashOf)
  const keys = useQuery({
    queryKey: [...KEYS_KEY, 'list', query],
    queryFn: ({ signal }) => listKeys(query, signal),
    placeholderData: keepPreviousData,
  })
  const nameOf = usePolicyNames((keys.data?.keys ?? []).flatMap(({ facts }) => facts.policies))
  const bulk = useBulkActions({
    ...{ selection, nameOf: nameOfKey },
    actions: keyActions(mayWrite),
    onDone: () => void client.invalidateQueries({ queryKey: KEYS_KEY }),
  })
  return (
    <Stack gap="sm">
      {bulk.bar}
      <PagedTable
        label={say('keys.title')}
        columns={columnsOf(nameOf, bulk)}
        rows={keys.data?.keys}
        rowKey={hashOf}
        selection={selection}
        nameOf={nameOfKey}
        source={keys}
        page={query.p}
        pages={keys.data?.pages}
        onPage={props.onPage}
        sized={{ size, total: keys.data?.total, onSize: props.onSize }}
        empty={props.empty}
      />
    </Stack>
  )
}

const hashOf = ({ key_hash }: KeyEntry) => key_hash

function columnsOf(policyName: (id: string) => string, bulk: BulkActions<KeyEntry>): readonly Column<KeyEntry>[] {
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
    { name: 'actions', title: say('part.actions'), isTitleHidden: true, width: 44, cell: bulk.menu },
  ]
}

function Name({ entry }: { readonly entry: KeyEntry }) {
  const { key_hash: hash } = entry
  return (
    <Stack gap={4} align="flex-start">
      <Anchor component={Link} to={`/keys/${hash}`} size="sm" fw={550} dir="auto" lineClamp={2} miw={110}>
        {nameOfKey(entry)}
      </Anchor>
      <KeyState entry={entry} />
    </Stack>
  )
}

/** State of a key, and whether it is a basic-auth user or a client certificate. */
export function KeyState({ entry: { data, facts } }: { readonly entry: Pick<KeyEntry, 'data' | 'facts'> }) {
  return (
    <Group gap={6}>
      <Badge variant="light" color={STATE_COLOURS[facts.status]} size="sm" tt="none">
        {say(`keys.${facts.status}`)}
      </Badge>
      {data.user_name !== undefined && (
        <Badge variant="default" size="sm" tt="none">
          {say('keys.user')}
        </Badge>
      )}
      {isOfCertificate(data) && (
        <Badge variant="default" size="sm" tt="none">
          {say('keys.certificate')}
        </Badge>
      )}
    </Group>
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
