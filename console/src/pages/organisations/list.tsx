import { Alert, Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Building2Icon, EyeIcon } from 'lucide-react'
import { listOrganisations, ORGANISATIONS_KEY, type Organisation } from '../../api/people/organisations.ts'
import { useSession } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { useChooseOrganisation } from '../../app/organisation-switch.tsx'
import { CopyText } from '../../parts/display/copy.tsx'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { count } from '../../parts/display/when.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { Pager } from '../../parts/tables/pager.tsx'
import { say } from '../../texts/say.ts'

const ABSENT = { p: '1' } as const

/** The own organisation; for a user who belongs to none, all of them, to be looked at one by one. */
export default function Organisations() {
  const { organisation, unbounded } = useSession()
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
        {unbounded && <Unbounded name={organisation?.name} />}
        <DataTable
          label={say('organisations.title')}
          columns={columns(organisation?.id, unbounded)}
          rows={list.data?.organisations}
          rowKey={({ id }) => id}
          error={list.error}
          retry={() => void list.refetch()}
          empty={<Empty icon={Building2Icon} title={say('organisations.none')} />}
        />
        <Pager page={page} pages={list.data?.pages ?? 1} onPage={(next) => set({ p: String(next) })} />
        <Text size="sm" c="dimmed">
          {!unbounded && say('organisations.switch')} {say('organisations.admin')}
        </Text>
      </Stack>
    </>
  )
}

function Unbounded({ name }: { readonly name: string | undefined }) {
  const look = useChooseOrganisation()
  return (
    <Alert
      icon={<EyeIcon aria-hidden />}
      title={name === undefined ? say('organisations.unbounded') : say('organisations.looking', { name })}
    >
      <Group justify="space-between">
        <Text size="sm" flex="1 1 20rem">
          {say('organisations.unboundedHint')}
        </Text>
        {name !== undefined && (
          <Button size="xs" variant="default" loading={look.isPending} onClick={() => look.mutate('')}>
            {say('organisations.lookAtAll')}
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function LookButton({ organisation: { id, owner_name: name } }: { readonly organisation: Organisation }) {
  const look = useChooseOrganisation()
  return (
    <Button
      size="xs"
      variant="default"
      loading={look.isPending}
      aria-label={say('organisations.lookAtNamed', { name: name || id })}
      onClick={() => look.mutate(id)}
    >
      {say('organisations.lookAt')}
    </Button>
  )
}

function columns(shownId: string | undefined, unbounded: boolean): readonly Column<Organisation>[] {
  return [
    {
      name: 'name',
      title: say('organisations.one'),
      cell: ({ id, owner_name: name, owner_slug: slug }) => (
        <>
          <Text span fw={550} dir="auto">
            {name || slug || id}
          </Text>{' '}
          {id === shownId && (
            <Badge variant="light">{say(unbounded ? 'organisations.shown' : 'organisations.own')}</Badge>
          )}
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
    ...(unbounded
      ? [
          {
            name: 'look',
            title: say('part.actions'),
            width: 110,
            cell: (organisation: Organisation) =>
              organisation.id !== shownId && <LookButton organisation={organisation} />,
          },
        ]
      : []),
  ]
}
