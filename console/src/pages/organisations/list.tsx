import { Alert, Badge, Code, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Building2Icon, EyeIcon } from 'lucide-react'
import { listOrganisations, ORGANISATIONS_KEY, type Organisation } from '../../api/organisations.ts'
import { useSession } from '../../api/session.ts'
import { useAddress } from '../../app/address.ts'
import { CopyText } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { count } from '../../parts/when.tsx'
import { say } from '../../texts/say.ts'

const ABSENT = { p: '1' } as const

/** The own organisation; for a user who belongs to none, all of them. */
export default function Organisations() {
  const { organisation } = useSession()
  const [{ p }, set] = useAddress(ABSENT)
  const page = Number(p) || 1
  const list = useQuery({
    queryKey: [...ORGANISATIONS_KEY, 'list', page],
    queryFn: ({ signal }) => listOrganisations(page, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHead title={say('organisations.title')} hint={say('organisations.hint')} />
      <Stack>
        {organisation === null && (
          <Alert icon={<EyeIcon aria-hidden />} title={say('organisations.unbounded')}>
            {say('organisations.unboundedHint')}
          </Alert>
        )}
        <DataTable
          label={say('organisations.title')}
          columns={columns(organisation?.id)}
          rows={list.data?.organisations}
          rowKey={({ id }) => id}
          error={list.error}
          retry={() => void list.refetch()}
          empty={<Empty icon={Building2Icon} title={say('organisations.none')} />}
        />
        <Pager page={page} pages={list.data?.pages ?? 1} onPage={(next) => set({ p: String(next) })} />
        <Text size="sm" c="dimmed">
          {say('organisations.switch')} {say('organisations.admin')}
        </Text>
      </Stack>
    </>
  )
}

function columns(ownId: string | undefined): readonly Column<Organisation>[] {
  return [
    {
      name: 'name',
      title: say('organisations.one'),
      cell: ({ id, owner_name: name, owner_slug: slug }) => (
        <>
          <Text span fw={550} dir="auto">
            {name || slug || id}
          </Text>{' '}
          {id === ownId && <Badge variant="light">{say('organisations.own')}</Badge>}
          <CopyText value={id} />
        </>
      ),
    },
    {
      name: 'slug',
      title: say('organisations.slug'),
      wideOnly: true,
      cell: ({ owner_slug: slug }) => (slug === '' ? '–' : <Code>{slug}</Code>),
    },
    {
      name: 'portal',
      title: say('organisations.portal'),
      wideOnly: true,
      cell: ({ cname, cname_enabled: isOn }) => (isOn && cname !== '' ? cname : '–'),
    },
    {
      name: 'sso',
      title: say('organisations.sso'),
      cell: ({ sso_enabled: isOn }) => (
        <Badge variant="light" color={isOn ? 'teal' : 'gray'}>
          {say(isOn ? 'organisations.on' : 'organisations.off')}
        </Badge>
      ),
    },
    {
      name: 'developers',
      title: say('organisations.developers'),
      wideOnly: true,
      isNumber: true,
      cell: ({ developer_count: has, developer_quota: most }) =>
        `${count(has)} / ${most > 0 ? count(most) : say('organisations.noLimit')}`,
    },
  ]
}
