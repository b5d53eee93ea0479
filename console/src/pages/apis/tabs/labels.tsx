import { ActionIcon, Anchor, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TagsIcon, XIcon } from 'lucide-react'
import { APIS_KEY, type ApiView, apiKey, saveCategories } from '../../../api/apis/apis.ts'
import {
  type ApiLabel,
  applyLabel,
  detachLabel,
  LABELS_KEY,
  type LabelView,
  labelsOf,
  listLabels,
} from '../../../api/apis/labels.ts'
import { useMay } from '../../../api/people/session.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { notifyDone, notifyFault } from '../../../parts/display/notify.ts'
import { type Field, RecordForm } from '../../../parts/forms/record-form.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'

/** The labels that an API carries, and its categories. */
export default function LabelsTab({ api }: { readonly api: ApiView }) {
  const mayWrite = useMay('apis', 'write')
  const carried = useQuery({
    queryKey: [...apiKey(api.id), 'labels'],
    queryFn: ({ signal }) => labelsOf(api.id, signal),
  })
  const known = useQuery({ queryKey: LABELS_KEY, queryFn: ({ signal }) => listLabels(signal) })
  const client = useQueryClient()
  const changed = () => void client.invalidateQueries({ queryKey: APIS_KEY })
  if (known.error !== null) return <FaultBox error={known.error} retry={() => void known.refetch()} />
  const names = new Map(known.data?.map(({ key, name }) => [key, name]))
  return (
    <Stack maw={820}>
      <Text size="sm" c="dimmed">
        {say('apis.labelsHint')}{' '}
        <Anchor component={Link} to="/labels" size="sm" underline="always">
          {say('apis.manageLabels')}
        </Anchor>
      </Text>
      <DataTable
        label={say('apis.labels')}
        columns={columnsOf(api, names, mayWrite, changed)}
        rows={carried.data}
        rowKey={({ key }) => key}
        error={carried.error}
        retry={() => void carried.refetch()}
        empty={<Empty icon={TagsIcon} title={say('apis.noLabels')} hint={say('apis.noLabelsHint')} />}
      />
      {mayWrite && known.data !== undefined && known.data.length > 0 && (
        <Apply api={api} known={known.data} onDone={changed} />
      )}
      {api.isOas && <Categories api={api} readOnly={!mayWrite} onDone={changed} />}
    </Stack>
  )
}

function columnsOf(
  api: ApiView,
  names: ReadonlyMap<string, string>,
  mayWrite: boolean,
  onDone: () => void,
): readonly Column<ApiLabel>[] {
  return [
    { name: 'label', title: say('apis.label'), cell: ({ key }) => names.get(key) ?? key },
    { name: 'value', title: say('apis.value'), cell: ({ value }) => value },
    ...(mayWrite
      ? [
          {
            ...{ name: 'actions', title: say('part.actions'), width: 90 },
            cell: (label: ApiLabel) => <TakeOff api={api} label={label} onDone={onDone} />,
          },
        ]
      : []),
  ]
}

function TakeOff({
  api,
  label,
  onDone,
}: {
  readonly api: ApiView
  readonly label: ApiLabel
  readonly onDone: () => void
}) {
  const off = useMutation({
    mutationFn: () => detachLabel(api.id, label.key),
    onSuccess: () => {
      notifyDone(say('apis.labelOff'))
      onDone()
    },
    onError: notifyFault,
  })
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      loading={off.isPending}
      onClick={() => off.mutate()}
      aria-label={say('apis.takeOff', { label: label.key })}
    >
      <XIcon size={16} aria-hidden />
    </ActionIcon>
  )
}

function Apply(props: { readonly api: ApiView; readonly known: readonly LabelView[]; readonly onDone: () => void }) {
  const { api, known } = props
  const predefined = known.filter(({ values }) => values.length > 0)
  const fields: Field[] = [
    {
      ...{ name: 'key', kind: 'choice', required: true, label: say('apis.label') },
      choices: known.map(({ key, name }) => ({ value: key, label: name })),
    },
    {
      ...{ name: 'text', kind: 'text', required: true, label: say('apis.value') },
      when: ({ key }) => key !== '' && !predefined.some((label) => label.key === key),
    },
    ...predefined.map(
      (label): Field => ({
        ...{ name: `of ${label.key}`, kind: 'choice', required: true, label: say('apis.value') },
        choices: label.values.map((value) => ({ value, label: value })),
        when: ({ key }) => key === label.key,
      }),
    ),
  ]
  const initial = Object.fromEntries(fields.map(({ name }) => [name, '']))
  return (
    <Paper withBorder p="lg">
      <Text fw={650} mb="sm">
        {say('apis.applyLabel')}
      </Text>
      <RecordForm
        fields={fields}
        initial={initial}
        verb={say('apis.apply')}
        submit={(values) => {
          const key = String(values.key)
          return applyLabel(api.id, { key, value: String(values[`of ${key}`] ?? values.text) })
        }}
        onDone={props.onDone}
      />
    </Paper>
  )
}

function Categories(props: { readonly api: ApiView; readonly readOnly: boolean; readonly onDone: () => void }) {
  const { api } = props
  return (
    <Paper withBorder p="lg">
      <RecordForm
        key={api.categories.join('\n')}
        readOnly={props.readOnly}
        fields={[{ name: 'categories', kind: 'list', label: say('apis.categories'), hint: say('apis.categoriesHint') }]}
        initial={{ categories: api.categories }}
        submit={({ categories }) => saveCategories(api.id, Array.isArray(categories) ? categories : [])}
        onDone={props.onDone}
      />
    </Paper>
  )
}
