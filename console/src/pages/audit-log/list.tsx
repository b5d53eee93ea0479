import { Anchor, Badge, Button, Code, Group, Menu, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DownloadIcon, HistoryIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { AUDIT_KEY, type AuditEntry, downloadAudit, listAudit } from '../../api/platform/audit.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { notifyFault } from '../../parts/display/notify.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { When } from '../../parts/display/when.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { say } from '../../texts/say.ts'
import { StatusBadge } from './status-badge.tsx'

const ABSENT = { user: '', action: '', method: '', from: '', to: '', p: '1' } as const
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']

type Filters = Readonly<Record<keyof typeof ABSENT, string>>
type SetFilters = (change: Partial<Filters>) => void

/** Who did what. */
export default function Audit() {
  const [filters, set] = useAddress(ABSENT)
  const may = useMay('audit_logs')
  return (
    <>
      <PageHead title={say('audit.title')} hint={say('audit.hint')}>
        {may && <Export filters={filters} />}
      </PageHead>
      <Guarded permission="audit_logs">
        <FilterBar filters={filters} set={set} />
        <List filters={filters} set={set} />
      </Guarded>
    </>
  )
}

function queryOf({ user, action, method, from, to }: Filters) {
  return { user, action, method, from_date: from, to_date: to }
}

function FilterBar({ filters, set }: { readonly filters: Filters; readonly set: SetFilters }) {
  const { user, action, method, from, to } = filters
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="xs" mb="md">
      <SearchBox
        value={user}
        label={say('audit.user')}
        placeholder={say('audit.userHint')}
        onSearch={(text) => set({ user: text, p: '' })}
      />
      <SearchBox
        value={action}
        label={say('audit.action')}
        placeholder={say('audit.actionHint')}
        onSearch={(text) => set({ action: text, p: '' })}
      />
      <Select
        aria-label={say('audit.method')}
        placeholder={say('audit.anyMethod')}
        data={METHODS}
        value={method === '' ? null : method}
        clearable
        onChange={(value) => set({ method: value ?? '', p: '' })}
      />
      <DayField label={say('audit.from')} value={from} onChange={(day) => set({ from: day, p: '' })} />
      <DayField label={say('audit.to')} value={to} onChange={(day) => set({ to: day, p: '' })} />
    </SimpleGrid>
  )
}

function DayField(props: { readonly label: string; readonly value: string; readonly onChange: (day: string) => void }) {
  return (
    <TextInput
      type="date"
      aria-label={props.label}
      leftSection={
        <Text size="xs" c="dimmed">
          {props.label}
        </Text>
      }
      leftSectionWidth={48}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

function List({ filters, set }: { readonly filters: Filters; readonly set: SetFilters }) {
  const page = Number(filters.p) || 1
  const query = queryOf(filters)
  const isFiltered = Object.values(query).some((value) => value !== '')
  const log = useQuery({
    queryKey: [...AUDIT_KEY, 'list', query, page],
    queryFn: ({ signal }) => listAudit({ ...query, p: page }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack gap="sm">
      <PagedTable
        label={say('audit.title')}
        columns={COLUMNS}
        rows={log.data?.audit_logs}
        rowKey={({ _id: id }) => id}
        source={log}
        page={page}
        pages={log.data?.pages}
        onPage={(next) => set({ p: String(next) })}
        empty={
          isFiltered ? (
            <Empty icon={HistoryIcon} title={say('audit.none')} hint={say('audit.noneHint')}>
              <Button
                variant="light"
                onClick={() => set({ user: '', action: '', method: '', from: '', to: '', p: '' })}
              >
                {say('audit.clear')}
              </Button>
            </Empty>
          ) : (
            <Empty icon={HistoryIcon} title={say('audit.empty')} hint={say('audit.emptyHint')} />
          )
        }
      />
    </Stack>
  )
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    name: 'action',
    title: say('audit.what'),
    cell: (entry) => (
      <>
        <Anchor component={Link} to={`/audit/${entry._id}`} fw={550} size="sm">
          {entry.action || entry.url}
        </Anchor>
        <Text size="xs" c="dimmed" truncate maw={{ base: 130, sm: 320 }} title={subjectOf(entry)}>
          {subjectOf(entry)}
        </Text>
      </>
    ),
  },
  { name: 'user', title: say('audit.user'), cell: ({ user }) => user || say('audit.itself') },
  {
    name: 'call',
    title: say('audit.call'),
    wideOnly: true,
    cell: ({ method, url }) =>
      url === '' ? (
        '–'
      ) : (
        <Group gap={6} wrap="nowrap">
          <Badge variant="default" size="sm" miw={72}>
            {method}
          </Badge>
          <Code className="wrap-anywhere">{url}</Code>
        </Group>
      ),
  },
  {
    name: 'status',
    title: say('audit.status'),
    wideOnly: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  { name: 'when', title: say('audit.when'), cell: ({ timestamp }) => <When at={timestamp} /> },
]

/** The subject of an entry, from the first line of its difference. */
function subjectOf({ diff }: AuditEntry): string {
  return /^@ (.*)$/m.exec(diff ?? '')?.[1] ?? ''
}

function Export({ filters }: { readonly filters: Filters }) {
  const saving = useMutation({
    mutationFn: async (type: 'csv' | 'json') => saveAs(await downloadAudit(queryOf(filters), type), `audit.${type}`),
    onError: notifyFault,
  })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" loading={saving.isPending} leftSection={<DownloadIcon size={16} aria-hidden />}>
          {say('audit.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{say('audit.exportHint')}</Menu.Label>
        <Menu.Item onClick={() => saving.mutate('csv')}>{say('audit.exportCsv')}</Menu.Item>
        <Menu.Item onClick={() => saving.mutate('json')}>{say('audit.exportJson')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
