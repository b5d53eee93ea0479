import { Anchor, Badge, Button, Group, Menu, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { EllipsisVerticalIcon, GitBranchIcon, PlusIcon } from 'lucide-react'
import { useState } from 'react'
import { APIS_KEY, type ApiView, apiKey, deleteApi } from '../../../api/apis/apis.ts'
import { listVersions, rebase, type VersionView } from '../../../api/apis/versions.ts'
import { useMay } from '../../../api/people/session.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { notifyDone, notifyFault } from '../../../parts/display/notify.ts'
import { When } from '../../../parts/display/when.tsx'
import { ConfirmDelete } from '../../../parts/forms/confirm-delete.tsx'
import { GuardedButton } from '../../../parts/forms/guarded.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'
import { VersionCalling } from '../versions/version-calling.tsx'
import { NewVersion, RenameVersion } from '../versions/version-forms.tsx'
import { detached, useChangeVersions, withDefault } from '../versions/versioning.ts'

/** The versions of an API: which there are, and which one a caller gets who asks for none. */
export default function VersionsTab({ api }: { readonly api: ApiView }) {
  const key = [...apiKey(api.id), 'versions']
  const versions = useQuery({ queryKey: key, queryFn: ({ signal }) => listVersions(api.id, signal) })
  const [open, setOpen] = useState<'new' | VersionView>()
  const close = () => setOpen(undefined)
  const rows = versions.data
  const isPlain = rows !== undefined && rows.length === 1 && rows[0]!.versionName === ''
  const add = (
    <GuardedButton permission="apis" leftSection={<PlusIcon size={16} aria-hidden />} onClick={() => setOpen('new')}>
      {say('apis.newVersion')}
    </GuardedButton>
  )
  return (
    <Stack>
      {isPlain ? (
        <Empty icon={GitBranchIcon} title={say('apis.noVersions')} hint={say('apis.noVersionsHint')}>
          {add}
        </Empty>
      ) : (
        <>
          <Group justify="space-between" align="flex-start">
            <Text size="sm" c="dimmed" maw={640}>
              {say('apis.versionsHint')}
            </Text>
            {add}
          </Group>
          <Rows api={api} rows={rows} error={versions.error} retry={versions.refetch} onRename={setOpen} />
          {rows?.[0]?.id === api.id && <VersionCalling api={api} />}
        </>
      )}
      <Modal opened={open === 'new'} onClose={close} title={say('apis.newVersion')} size="lg">
        <NewVersion api={api} baseName={rows?.[0]?.versionName ?? ''} onDone={close} />
      </Modal>
      <Modal opened={typeof open === 'object'} onClose={close} title={say('apis.renameVersion')}>
        {typeof open === 'object' && <RenameVersion api={api} version={open} onDone={close} />}
      </Modal>
    </Stack>
  )
}

function Rows(props: {
  readonly api: ApiView
  readonly rows: readonly VersionView[] | undefined
  readonly error: unknown
  readonly retry: () => void
  readonly onRename: (version: VersionView) => void
}) {
  const { api } = props
  const mayWrite = useMay('apis', 'write')
  const [going, setGoing] = useState<VersionView>()
  const columns: Column<VersionView>[] = [
    { name: 'version', title: say('apis.version'), cell: (row) => <VersionName row={row} baseId={api.id} /> },
    {
      name: 'api',
      title: say('apis.api'),
      cell: ({ id, name }) => (
        <Anchor component={Link} to={`/apis/${encodeURIComponent(id)}` as '/'} size="sm">
          {name}
        </Anchor>
      ),
    },
    { name: 'ends', title: say('apis.ends'), wideOnly: true, cell: (row) => <When at={row.expirationDate} /> },
  ]
  if (mayWrite)
    columns.push({
      ...{ name: 'actions', title: say('part.actions'), width: 90 },
      cell: (row) => <Actions api={api} row={row} onRename={props.onRename} onDelete={setGoing} />,
    })
  const client = useQueryClient()
  return (
    <>
      <DataTable
        {...{ label: say('apis.versions'), columns, rows: props.rows, error: props.error, retry: props.retry }}
        rowKey={({ id }) => id}
        empty={null}
      />
      <ConfirmDelete
        name={going?.name}
        depends={say('apis.deleteVersionWhat')}
        run={() => deleteApi(going!.id, false)}
        onDone={() => {
          setGoing(undefined)
          void client.invalidateQueries({ queryKey: APIS_KEY })
        }}
        onClose={() => setGoing(undefined)}
      />
    </>
  )
}

function VersionName({ row, baseId }: { readonly row: VersionView; readonly baseId: string }) {
  return (
    <Group gap={6}>
      <Text span fw={600} size="sm" className="wrap-anywhere">
        {row.versionName || say('apis.unnamed')}
      </Text>
      {row.isDefaultVersion && (
        <Badge variant="light" tt="none">
          {say('apis.default')}
        </Badge>
      )}
      {row.id === baseId && (
        <Badge variant="default" tt="none">
          {say('apis.base')}
        </Badge>
      )}
      {row.internal && (
        <Badge variant="default" tt="none">
          {say('apis.internal')}
        </Badge>
      )}
    </Group>
  )
}

function Actions(props: {
  readonly api: ApiView
  readonly row: VersionView
  readonly onRename: (version: VersionView) => void
  readonly onDelete: (version: VersionView) => void
}) {
  const { api, row } = props
  const client = useQueryClient()
  const changeVersions = useChangeVersions(api)
  const change = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () => {
      notifyDone(say('part.saved'))
      void client.invalidateQueries({ queryKey: APIS_KEY })
    },
    onError: notifyFault,
  })
  const isThis = row.id === api.id
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" aria-label={say('apis.versionActions', { name: row.versionName })}>
          <EllipsisVerticalIcon size={16} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          disabled={row.isDefaultVersion}
          onClick={() =>
            change.mutate(() => changeVersions((it) => withDefault(it, api.isOas, isThis ? 'self' : row.versionName)))
          }
        >
          {say('apis.makeDefault')}
        </Menu.Item>
        <Menu.Item onClick={() => props.onRename(row)}>{say('apis.renameVersion')}</Menu.Item>
        {!isThis && (
          <>
            <Menu.Item onClick={() => change.mutate(() => rebase(api.id, row.id))}>{say('apis.makeBase')}</Menu.Item>
            <Menu.Item onClick={() => change.mutate(() => changeVersions((it) => detached(it, api.isOas, row.id)))}>
              {say('apis.detach')}
            </Menu.Item>
            <Menu.Item color="red" onClick={() => props.onDelete(row)}>
              {say('apis.deleteVersion')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
