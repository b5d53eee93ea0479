import { Anchor, Box, Button, Group, Select, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { PlusIcon, ShieldCheckIcon } from 'lucide-react'
import { listPolicies, POLICIES_KEY, POLICY_STATES, type Policy } from '../../api/access/policies.ts'
import { useMay } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { count, When } from '../../parts/display/when.tsx'
import { ApiPicker } from '../../parts/forms/api-picker.tsx'
import { Guarded, GuardedButton } from '../../parts/forms/guarded.tsx'
import { timeText } from '../../parts/forms/limit-inputs.tsx'
import { StateDot } from '../../parts/portal/state.tsx'
import { type BulkActions, useBulkActions } from '../../parts/tables/bulk-actions.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { pageSizeIn } from '../../parts/tables/pager.tsx'
import { rateText } from '../../parts/tables/rights-table.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { useSelection } from '../../parts/tables/selection.ts'
import { say } from '../../texts/say.ts'
import { policyActions } from './bulk-policies.ts'

const ABSENT = { q: '', p: '1', size: '', state: '', api_id: '', sort: '-date_created' } as const
const COLOURS = { active: 'green', draft: 'yellow', deny: 'red' } as const

/** Policies: found by name, state and the APIs that they give access to. */
export default function Policies() {
  return (
    <>
      <PageHead title={say('shell.policies')} hint={say('policies.hint')}>
        <AddButton />
      </PageHead>
      <Guarded permission="policies">
        <PolicyList />
      </Guarded>
    </>
  )
}

function PolicyList() {
  const [address, set] = useAddress(ABSENT)
  const { q, p, state, api_id: api, sort } = address
  const size = pageSizeIn(address.size)
  const query = { q, p, state, api_id: api, sort, page_size: size }
  const policies = useQuery({
    queryKey: [...POLICIES_KEY, 'list', query],
    queryFn: ({ signal }) => listPolicies(query, signal),
    placeholderData: keepPreviousData,
  })
  const client = useQueryClient()
  const mayWrite = useMay('policies', 'write')
  const selection = useSelection(idOf)
  const bulk = useBulkActions({
    ...{ selection, nameOf },
    actions: policyActions(mayWrite),
    onDone: () => void client.invalidateQueries({ queryKey: POLICIES_KEY }),
  })
  const isFiltered = q + state + api !== ''
  const clear = () => set({ q: '', state: '', api_id: '', p: '' })
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Box flex="1 1 16rem" maw={360}>
          <SearchBox label={say('policies.search')} value={q} onSearch={(text) => set({ q: text.trim(), p: '' })} />
        </Box>
        <Select
          aria-label={say('policies.state')}
          placeholder={say('policies.anyState')}
          clearable={state !== ''}
          clearButtonProps={{ 'aria-label': say('policies.clear') }}
          value={state === '' ? null : state}
          data={POLICY_STATES.map((value) => ({ value, label: say(`policies.state.${value}`) }))}
          onChange={(value) => set({ state: value ?? '', p: '' })}
        />
        <ApiPicker
          label={say('policies.filterApi')}
          placeholder={say('policies.filterApi')}
          hiddenLabel
          value={api}
          onPick={(picked) => set({ api_id: picked?.id ?? '', p: '' })}
        />
      </Group>
      {bulk.bar}
      <PagedTable
        label={say('shell.policies')}
        columns={[...COLUMNS, menuOf(bulk)]}
        selection={selection}
        nameOf={nameOf}
        sized={{ size, total: policies.data?.total, onSize: (next) => set({ size: next, p: '' }) }}
        rows={policies.data?.Data}
        rowKey={idOf}
        source={policies}
        page={Number(p) || 1}
        pages={policies.data?.Pages}
        onPage={(page) => set({ p: String(page) })}
        sorting={{ by: sort.replace('-', ''), descending: sort.startsWith('-') }}
        onSort={({ by, descending }) => set({ sort: descending ? `-${by}` : by, p: '' })}
        empty={isFiltered ? <NoneFound onClear={clear} /> : <None />}
      />
    </Stack>
  )
}

const idOf = ({ _id }: Policy) => _id
const nameOf = ({ id, name }: Policy) => name || id
const menuOf = (bulk: BulkActions<Policy>): Column<Policy> => ({
  ...{ name: 'actions', title: say('part.actions'), isTitleHidden: true, width: 44, cell: bulk.menu },
})

const COLUMNS: readonly Column<Policy>[] = [
  {
    name: 'name',
    title: say('policies.name'),
    sortBy: 'name',
    cell: ({ id, name }) => (
      <>
        <Anchor component={Link} to={`/policies/${encodeURIComponent(id)}`} fw={600} dir="auto">
          {name || id}
        </Anchor>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {id}
        </Text>
      </>
    ),
  },
  {
    name: 'state',
    title: say('policies.state'),
    sortBy: 'state',
    width: 130,
    cell: ({ state }) => <StateDot colour={COLOURS[state]} text={say(`policies.state.${state}`)} />,
  },
  {
    name: 'apis',
    title: say('policies.apis'),
    isNumber: true,
    width: 90,
    cell: ({ access_rights: rights }) => count(Object.keys(rights).length),
  },
  { name: 'rate', title: say('policies.rate'), wideOnly: true, width: 170, cell: rateText },
  { name: 'quota', title: say('policies.quota'), wideOnly: true, width: 180, cell: quotaText },
  {
    name: 'updated',
    title: say('policies.updated'),
    wideOnly: true,
    sortBy: 'date_created',
    width: 140,
    cell: ({ last_updated: at, date_created: made }) => <When at={seconds(at) ?? made} />,
  },
]

function quotaText({ quota_max: max = 0, quota_renewal_rate: per = 0 }: Policy): string {
  return max > 0 ? say('policies.quotaOf', { count: count(max), time: timeText(per) }) : say('policies.noQuota')
}

/** Unix seconds come as text. */
function seconds(text: string): number | undefined {
  return /^\d+$/.test(text) && text !== '0' ? Number(text) : undefined
}

function AddButton() {
  const navigate = useNavigate()
  return (
    <GuardedButton
      permission="policies"
      leftSection={<PlusIcon size={16} aria-hidden />}
      onClick={() => void navigate({ to: '/policies/new' })}
    >
      {say('shell.newPolicy')}
    </GuardedButton>
  )
}

function None() {
  return (
    <Empty icon={ShieldCheckIcon} title={say('policies.none')} hint={say('policies.noneHint')}>
      <AddButton />
    </Empty>
  )
}

function NoneFound({ onClear }: { readonly onClear: () => void }) {
  return (
    <Empty icon={ShieldCheckIcon} title={say('policies.noneFound')} hint={say('policies.noneFoundHint')}>
      <Button variant="light" onClick={onClear}>
        {say('policies.clear')}
      </Button>
    </Empty>
  )
}
