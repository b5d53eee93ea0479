import { ActionIcon, Anchor, Badge, Code, Group, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { PencilIcon, TagsIcon, TrashIcon } from 'lucide-react'
import { useState } from 'react'
import {
  LABEL_USE_KEY,
  LABELS_KEY,
  type LabelUse,
  type LabelView,
  labelsInUse,
  listLabels,
} from '../../api/apis/labels.ts'
import { deleteLabel } from '../../api/apis/labels-admin.ts'
import { useIsAdministrator } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { count } from '../../parts/display/when.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { Guarded, GuardedButton } from '../../parts/forms/guarded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { LabelForm } from './label-form.tsx'

const ABSENT = { q: '' }
const MOST_SHOWN = 6
const MOST_LINKED = 30

interface Row extends LabelView {
  /** APIs that carry it. */
  readonly apis: number
  /** The values that they carry it with. */
  readonly carried: readonly string[]
}

/** The vocabulary of labels. Administrators define it, everybody who sees APIs reads it. */
export default function Labels() {
  return (
    <Guarded permission="apis" title={say('labels.title')}>
      <LabelsPage />
    </Guarded>
  )
}

function LabelsPage() {
  const client = useQueryClient()
  const isAdmin = useIsAdministrator()
  const [{ q }, setWords] = useAddress<'q'>(ABSENT)
  const [edited, setEdited] = useState<LabelView | 'new'>()
  const [deleted, setDeleted] = useState<Row>()
  const labels = useQuery({ queryKey: LABELS_KEY, queryFn: ({ signal }) => listLabels(signal) })
  const use = useQuery({ queryKey: LABEL_USE_KEY, queryFn: ({ signal }) => labelsInUse(signal) })
  const uses = new Map(use.data?.map(({ key, values }) => [key, values]))
  const all = labels.data?.map((label) => rowOf(label, uses.get(label.key) ?? []))
  const rows = all?.filter((label) => holds(label, q))
  const add = (
    <GuardedButton
      permission="apis"
      intent="read"
      onClick={() => setEdited('new')}
      {...(!isAdmin && { reason: say('labels.adminOnly') })}
    >
      {say('labels.new')}
    </GuardedButton>
  )
  return (
    <>
      <PageHead title={say('labels.title')} hint={say('labels.hint')}>
        {all?.length !== 0 && add}
      </PageHead>
      <Stack>
        {all?.length !== 0 && (
          <TextInput
            aria-label={say('part.searchIn')}
            placeholder={say('labels.search')}
            value={q}
            onChange={(event) => setWords({ q: event.currentTarget.value })}
            maw={420}
          />
        )}
        <DataTable
          label={say('labels.title')}
          columns={columns(isAdmin, setEdited, setDeleted)}
          rows={rows}
          rowKey={({ id }) => id}
          error={labels.error}
          retry={() => void labels.refetch()}
          empty={
            all?.length === 0 ? (
              <Empty icon={TagsIcon} title={say('labels.empty')} hint={say('labels.emptyHint')}>
                {add}
              </Empty>
            ) : (
              <Empty title={say('labels.none')} hint={say('labels.noneHint')} />
            )
          }
        />
      </Stack>
      <LabelForm label={edited} onClose={() => setEdited(undefined)} />
      <ConfirmDelete
        name={deleted?.name}
        depends={deleted !== undefined && <Depends {...deleted} />}
        run={() => deleteLabel(deleted!.id)}
        onDone={() => {
          setDeleted(undefined)
          void client.invalidateQueries({ queryKey: LABELS_KEY })
        }}
        onClose={() => setDeleted(undefined)}
      />
    </>
  )
}

function rowOf(label: LabelView, uses: LabelUse['values']): Row {
  const apis = uses.reduce((sum, { count: number }) => sum + number, 0)
  return { ...label, apis, carried: uses.map(({ value }) => value) }
}

function Depends({ apis }: Row) {
  return <Text size="sm">{apis === 0 ? say('labels.free') : say('labels.depends', { number: count(apis) })}</Text>
}

function columns(isAdmin: boolean, edit: (row: Row) => void, remove: (row: Row) => void): readonly Column<Row>[] {
  const ofAdmins: Column<Row> = {
    name: 'actions',
    title: say('part.actions'),
    width: 96,
    cell: (row) => (
      <Group gap={4} wrap="nowrap">
        <Action label={say('labels.edit', { name: row.name })} icon={PencilIcon} run={() => edit(row)} />
        <Action label={say('labels.delete', { name: row.name })} icon={TrashIcon} run={() => remove(row)} isRed />
      </Group>
    ),
  }
  return [
    {
      name: 'name',
      title: say('labels.name'),
      width: '34%',
      cell: ({ name }) => (
        <Text size="sm" fw={600} dir="auto" className="wrap-anywhere">
          {name}
        </Text>
      ),
    },
    {
      name: 'key',
      title: say('labels.key'),
      wideOnly: true,
      cell: ({ key }) => <Code className="wrap-anywhere">{key}</Code>,
    },
    { name: 'values', title: say('labels.values'), cell: (row) => <Values {...row} /> },
    {
      name: 'use',
      wideOnly: true,
      title: say('labels.use'),
      isNumber: true,
      width: 80,
      cell: (row) => <Use row={row} />,
    },
    ...(isAdmin ? [ofAdmins] : []),
  ]
}

function Action(props: {
  readonly label: string
  readonly icon: typeof PencilIcon
  readonly run: () => void
  readonly isRed?: boolean
}) {
  const Sign = props.icon
  return (
    <Tooltip label={props.label}>
      <ActionIcon
        variant="subtle"
        color={props.isRed === true ? 'red' : 'gray'}
        onClick={props.run}
        aria-label={props.label}
      >
        <Sign size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function Values({ values }: Row) {
  if (values.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {say('labels.any')}
      </Text>
    )
  const rest = values.length - MOST_SHOWN
  return (
    <Group gap={4}>
      {values.slice(0, MOST_SHOWN).map((value) => (
        <Badge key={value} variant="default" tt="none" fw={500} maw={220}>
          <bdi>{value}</bdi>
        </Badge>
      ))}
      {rest > 0 && (
        <Tooltip label={values.slice(MOST_SHOWN, MOST_SHOWN * 5).join(', ')} multiline maw={320}>
          <Badge variant="transparent" aria-label={say('labels.moreValues', { number: count(rest) })}>
            {say('labels.more', { number: count(rest) })}
          </Badge>
        </Tooltip>
      )}
    </Group>
  )
}

function Use({ row: { name, key, apis, carried } }: { readonly row: Row }) {
  if (apis === 0)
    return (
      <Text size="sm" c="dimmed">
        {say('labels.unused')}
      </Text>
    )
  // Values of one label are looked for together; an address has room for so many.
  const labels = carried.slice(0, MOST_LINKED).map((value) => `${key}:${value}`)
  return (
    <Anchor
      component={Link}
      to="/apis"
      search={{ labels: labels.join('\n') } as never}
      size="sm"
      aria-label={say('labels.showApis', { name })}
    >
      {count(apis)}
    </Anchor>
  )
}

function holds({ name, key, values }: Row, q: string): boolean {
  const part = q.trim().toLowerCase()
  return [name, key, ...values].some((text) => text.toLowerCase().includes(part))
}
