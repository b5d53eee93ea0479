import { ActionIcon, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, XIcon } from 'lucide-react'
import { useState } from 'react'
import type { Definition } from '../../../api/apis/apis.ts'
import { type Flaw, faultsAt, isBelow } from '../../../parts/editors/openapi-place.ts'
import { type Field, type FormValues, RecordForm } from '../../../parts/forms/record-form.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say, type TextName } from '../../../texts/say.ts'
import { type Entry, type EntryKind, entriesOf, entryPlaces, entryWith, freshValues } from './entry-kinds.ts'
import { fieldOf, settingsIn } from './setting.ts'

interface Props {
  readonly kind: EntryKind
  readonly definition: Definition
  readonly isOas: boolean
  readonly edit: (change: (definition: Definition) => Definition) => void
  readonly readOnly: boolean
  readonly flaws: readonly Flaw[]
  /** The line below the name of an entry. */
  readonly aboutOf: (values: FormValues) => string
  /** A field as this page has it, where more is known than its setting says. */
  readonly drawn?: (field: Field) => Field
}

/** Numbered from 0; the one after the last is new. */
type Open = number | undefined

/** Entries of an API, each edited in a dialog. */
export function EntryList(props: Props) {
  const { kind, definition, isOas, readOnly, flaws } = props
  const [open, setOpen] = useState<Open>()
  const entries = entriesOf(kind, definition, isOas)
  const write = (change: (before: readonly Entry[]) => readonly Definition[]) =>
    props.edit((before) => kind.listing.write(before, isOas, change(entriesOf(kind, before, isOas))))
  const ofAll = flaws.filter(
    ({ at }) =>
      kind.listing.places(isOas).some((place) => isBelow(at, place)) &&
      !entries.some(({ place }) => isBelow(at, place)),
  )
  return (
    <Stack gap="xs">
      <div>
        <Text size="sm" fw={600}>
          {word(kind, 'Title')}
        </Text>
        <Text size="xs" c="dimmed">
          {word(kind, 'Hint')}
        </Text>
      </div>
      <DataTable
        label={word(kind, 'Title')}
        columns={columnsOf({ ...props, write, entries, onOpen: setOpen })}
        rows={entries.map((entry, index) => ({ ...entry, index }))}
        rowKey={({ index }) => String(index)}
        empty={
          <Text size="sm" c="dimmed" fs="italic">
            {word(kind, 'None')}
          </Text>
        }
      />
      {ofAll.map(({ words, reason }) => (
        <Text key={words + reason} size="xs" c="red" role="alert">
          {reason}
        </Text>
      ))}
      {!readOnly && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<PlusIcon size={14} aria-hidden />}
          onClick={() => setOpen(entries.length)}
        >
          {word(kind, 'Add')}
        </Button>
      )}
      <Modal opened={open !== undefined} onClose={() => setOpen(undefined)} title={word(kind, 'One')} size="lg">
        {open !== undefined && <EntryForm {...props} {...{ write, entries, open }} onDone={() => setOpen(undefined)} />}
      </Modal>
    </Stack>
  )
}

type Row = Entry & { readonly index: number }

interface Listed extends Props {
  readonly entries: readonly Entry[]
  readonly write: (change: (before: readonly Entry[]) => readonly Definition[]) => void
}

/** A text of a kind: `apiSet.checksAdd`. */
const word = ({ name }: EntryKind, which: string) => say(`apiSet.${name}${which}` as TextName)

function columnsOf(props: Listed & { readonly onOpen: (index: number) => void }): readonly Column<Row>[] {
  const { kind, flaws, readOnly } = props
  const name: Column<Row> = {
    ...{ name: 'name', title: word(kind, 'One') },
    cell: ({ values, index, place }) => (
      <Stack gap={2} align="flex-start">
        <Button
          variant="transparent"
          size="compact-sm"
          px={0}
          h="auto"
          styles={WRAPPED}
          onClick={() => props.onOpen(index)}
          dir="auto"
        >
          {kind.titleOf(values)}
        </Button>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {props.aboutOf(values)}
        </Text>
        {kind.onBy !== undefined && values[kind.onBy] !== true && (
          <Badge size="sm" variant="default" tt="none">
            {say('apiSet.entryOff')}
          </Badge>
        )}
        {flaws
          .filter(({ at }) => isBelow(at, place))
          .map(({ words, reason }) => (
            <Text key={words + reason} size="xs" c="red" role="alert" className="wrap-anywhere">
              {reason}
            </Text>
          ))}
      </Stack>
    ),
  }
  if (readOnly) return [name]
  const actions: Column<Row> = {
    ...{ name: 'actions', title: say('part.actions'), isTitleHidden: true, width: kind.orderedBy ? 120 : 60 },
    cell: (row) => <Actions {...props} row={row} />,
  }
  return [name, actions]
}

const WRAPPED = { label: { whiteSpace: 'normal', overflowWrap: 'anywhere', textAlign: 'left' } } as const

function Actions({ kind, entries, write, row }: Listed & { readonly row: Row }) {
  const name = kind.titleOf(row.values)
  const { orderedBy } = kind
  const isAdjacent = (index: number) =>
    orderedBy !== undefined && entries[index]?.values[orderedBy] === row.values[orderedBy]
  const swap = (other: number) =>
    write((before) => {
      const list = before.map(({ held }) => held)
      ;[list[row.index], list[other]] = [list[other]!, list[row.index]!]
      return list
    })
  return (
    <Group gap={2} justify="flex-end" wrap="nowrap">
      {orderedBy !== undefined && (
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            disabled={!isAdjacent(row.index - 1)}
            onClick={() => swap(row.index - 1)}
            aria-label={say('apiSet.entryUp', { name })}
          >
            <ArrowUpIcon size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            disabled={!isAdjacent(row.index + 1)}
            onClick={() => swap(row.index + 1)}
            aria-label={say('apiSet.entryDown', { name })}
          >
            <ArrowDownIcon size={16} aria-hidden />
          </ActionIcon>
        </>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        onClick={() => write((before) => before.filter((_each, index) => index !== row.index).map(({ held }) => held))}
        aria-label={say('apiSet.entryOut', { name })}
      >
        <XIcon size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}

function EntryForm(props: Listed & { readonly open: number; readonly onDone: () => void }) {
  const { kind, isOas, entries, open, write, flaws, drawn = same } = props
  const entry = entries[open]
  const fields = settingsIn(kind.settings, isOas).map(fieldOf).map(drawn)
  const taken = entries.filter((_each, index) => index !== open).map(({ values }) => values[kind.unique ?? ''])
  const unique = (field: Field): Field =>
    field.name !== kind.unique
      ? field
      : { ...field, check: (value) => (taken.includes(value) ? say('apiSet.entryTaken') : undefined) }
  return (
    <RecordForm
      fields={fields.map(unique)}
      initial={entry?.values ?? freshValues(kind, isOas)}
      faults={entry === undefined ? {} : faultsAt(flaws, entryPlaces(kind, entry, isOas))}
      readOnly={props.readOnly}
      verb={say(entry === undefined ? 'apiSet.entryAdd' : 'apiSet.entryChange')}
      done=""
      onCancel={props.onDone}
      submit={async (values) =>
        write((before) => {
          const list = before.map(({ held }) => held)
          list[open] = entryWith(kind, before[open]?.held ?? {}, isOas, values)
          return list
        })
      }
      onDone={props.onDone}
    />
  )
}

const same = (field: Field): Field => field
