import { ActionIcon, Badge, Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { FileTextIcon, PencilIcon, PlusIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import { deletePortalPage, listPortalPages, PORTAL_PAGES_KEY, type PortalPage } from '../../api/portal/portal-pages.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import type { Column } from '../../parts/tables/data-table.tsx'
import { PagedTable } from '../../parts/tables/paged-table.tsx'
import { say } from '../../texts/say.ts'
import { PageDialog } from './page-dialog.tsx'
import { SettingsMenus } from './settings-menus.tsx'

const ABSENT = { page: '1' } as const

/** Pages that the portal shows besides the catalogue, and the menus that lead to them. */
export function SettingsPages() {
  return (
    <Stack gap="xl" maw="56rem">
      <Pages />
      <SettingsMenus />
    </Stack>
  )
}

function Pages() {
  const [{ page }, setAddress] = useAddress(ABSENT)
  const [edited, setEdited] = useState<PortalPage | 'new'>()
  const [deleted, setDeleted] = useState<PortalPage>()
  const client = useQueryClient()
  const may = useMay('portal', 'write')
  const source = useQuery({
    queryKey: [...PORTAL_PAGES_KEY, page],
    queryFn: ({ signal }) => listPortalPages(page, signal),
    placeholderData: keepPreviousData,
  })
  const changed = () => client.invalidateQueries({ queryKey: PORTAL_PAGES_KEY })
  const add = may && (
    <Button size="sm" leftSection={<PlusIcon size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {say('portal.addPage')}
    </Button>
  )
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }}>
      <Group justify="space-between" mb="sm">
        <div>
          <Title order={2} size="h4">
            {say('portal.pages')}
          </Title>
          <Text size="sm" c="dimmed">
            {say('portal.pagesHint')}
          </Text>
        </div>
        {source.data?.Data.length !== 0 && add}
      </Group>
      <PagedTable
        label={say('portal.pages')}
        columns={columnsOf(may, setEdited, setDeleted)}
        rows={source.data?.Data}
        rowKey={({ id }) => id}
        source={source}
        page={Number(page) || 1}
        pages={source.data?.Pages}
        onPage={(to) => setAddress({ page: String(to) })}
        empty={
          <Empty icon={FileTextIcon} title={say('portal.noPages')} hint={say('portal.noPagesHint')}>
            {add}
          </Empty>
        }
      />
      <PageDialog page={edited} onDone={changed} onClose={() => setEdited(undefined)} />
      <ConfirmDelete
        name={deleted && (deleted.title || deleted.slug)}
        depends={<Text size="sm">{say('portal.deletePageHint')}</Text>}
        run={() => deletePortalPage(deleted!.id)}
        onDone={() => {
          setDeleted(undefined)
          void changed()
        }}
        onClose={() => setDeleted(undefined)}
      />
    </Paper>
  )
}

function columnsOf(
  may: boolean,
  edit: (page: PortalPage) => void,
  remove: (page: PortalPage) => void,
): readonly Column<PortalPage>[] {
  const actions: Column<PortalPage> = {
    name: 'actions',
    title: say('part.actions'),
    width: 96,
    cell: (page) => <Actions name={page.title || page.slug} edit={() => edit(page)} remove={() => remove(page)} />,
  }
  return [
    {
      name: 'title',
      title: say('portal.pageTitle'),
      cell: ({ title, slug, is_homepage: isHome }) => (
        <Group gap={6}>
          <Text size="sm" fw={550} dir="auto" className="wrap-anywhere" lineClamp={2}>
            {title || slug}
          </Text>
          {isHome && (
            <Badge size="sm" variant="default" tt="none">
              {say('portal.homePage')}
            </Badge>
          )}
        </Group>
      ),
    },
    {
      name: 'slug',
      title: say('portal.slug'),
      wideOnly: true,
      cell: ({ slug }) => <Code className="wrap-anywhere">{slug}</Code>,
    },
    {
      name: 'template',
      title: say('portal.template'),
      wideOnly: true,
      cell: ({ template_name: template }) => template || '–',
    },
    ...(may ? [actions] : []),
  ]
}

function Actions(props: { readonly name: string; readonly edit: () => void; readonly remove: () => void }) {
  const { name } = props
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon variant="subtle" color="gray" onClick={props.edit} aria-label={say('portal.editNamed', { name })}>
        <PencilIcon size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="subtle" color="red" onClick={props.remove} aria-label={say('portal.deleteNamed', { name })}>
        <Trash2Icon size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}
