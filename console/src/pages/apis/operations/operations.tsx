import { Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Definition } from '../../../api/apis/apis.ts'
import { type Flaw, faultsAt, isBelow } from '../../../parts/editors/openapi-place.ts'
import { LiveFields } from '../../../parts/forms/live-fields.tsx'
import type { FormValues } from '../../../parts/forms/record-form.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'
import type { TwoWayBinding } from '../editor/two-way-binding.ts'
import { type Operation, operationsOf } from '../openapi/openapi-operations.ts'
import { operationAt, operationFields, operationPlaces, operationValues, withOperation } from './operation-settings.ts'

interface Props {
  readonly binding: TwoWayBinding
  readonly readOnly: boolean
  /** The dashboard's errors, by paths of the document. */
  readonly flaws: readonly Flaw[]
}

/** The gateway settings of each operation of the document. */
export default function Operations({ binding, readOnly, flaws }: Props) {
  const operations = useMemo(() => operationsOf(binding.definition), [binding.definition])
  const [part, setPart] = useState('')
  const [chosen, setChosen] = useState<string>()
  const shown = operations.filter(({ method, path, id }) => `${method} ${path} ${id}`.toLowerCase().includes(part))
  const operation = operations.find(({ key }) => key === chosen)
  return (
    <>
      <Stack gap="sm">
        {operations.length > 8 && (
          <TextInput
            type="search"
            aria-label={say('apis.findOperation')}
            placeholder={say('apis.findOperation')}
            value={part}
            onChange={(event) => setPart(event.currentTarget.value.toLowerCase())}
          />
        )}
        <DataTable
          label={say('apis.operations')}
          columns={columnsOf(setChosen, flaws)}
          rows={shown}
          rowKey={({ key }) => key}
          drawAll={60}
          empty={
            <Text size="sm" c="dimmed">
              {say('apis.noOperations')}
            </Text>
          }
        />
      </Stack>
      <Modal
        opened={operation !== undefined}
        onClose={() => setChosen(undefined)}
        title={operation === undefined ? '' : `${operation.method} ${operation.path}`}
        size="lg"
      >
        {operation !== undefined && <OperationForm {...{ binding, readOnly, flaws, operation }} />}
      </Modal>
    </>
  )
}

function columnsOf(choose: (key: string) => void, flaws: readonly Flaw[]): readonly Column<Operation>[] {
  return [
    { name: 'method', title: say('apis.method'), width: 90, cell: ({ method }) => <Method method={method} /> },
    {
      name: 'path',
      title: say('apis.path'),
      cell: ({ path, key, id, settings }) => (
        <Stack gap={2} align="flex-start">
          <Button variant="transparent" size="compact-sm" px={0} h="auto" onClick={() => choose(key)} styles={WRAPPED}>
            {path}
          </Button>
          <SettingBadges settings={settings} />
          {id !== '' && <Faults flaws={flaws.filter(({ at }) => isBelow(at, operationAt(id)))} />}
        </Stack>
      ),
    },
  ]
}

const WRAPPED = { label: { whiteSpace: 'normal', overflowWrap: 'anywhere', textAlign: 'left' } } as const

const COLOUR: Readonly<Record<string, string>> = {
  GET: 'blue',
  POST: 'teal',
  PUT: 'yellow',
  PATCH: 'grape',
  DELETE: 'red',
}

/** The method of an operation. */
export function Method({ method }: { readonly method: string }) {
  return (
    <Badge variant="outline" radius="sm" color={COLOUR[method] ?? 'gray'} c="var(--mantine-color-text)">
      {method}
    </Badge>
  )
}

function SettingBadges({ settings }: { readonly settings: Definition }) {
  const names = Object.keys(settings)
  if (names.length === 0) return null
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} size="sm" variant="default" tt="none">
          {name}
        </Badge>
      ))}
    </Group>
  )
}

function Faults({ flaws }: Pick<Props, 'flaws'>) {
  return flaws.map(({ words, reason }) => (
    <Text key={words + reason} size="xs" c="red" role="alert" className="wrap-anywhere">
      {reason}
    </Text>
  ))
}

function OperationForm({ binding, readOnly, flaws, operation }: Props & { readonly operation: Operation }) {
  const values = operationValues(operation.settings)
  const fields = operationFields(operation)
  const faults = useMemo(() => faultsAt(flaws, operationPlaces(operation)), [flaws, operation])
  const change = (next: FormValues) => binding.edit((definition) => withOperation(definition, operation, next))
  return (
    <Stack>
      {operation.summary !== '' && (
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {operation.summary}
        </Text>
      )}
      <LiveFields {...{ fields, values, faults, readOnly }} onChange={change} />
    </Stack>
  )
}
