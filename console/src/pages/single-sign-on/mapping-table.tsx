import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { PlusIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import type { UserGroup } from '../../api/people/groups.ts'
import { say } from '../../texts/say.ts'

type Mapping = Readonly<Record<string, string>>

interface Line {
  readonly id: number
  readonly theirs: string
  readonly ours: string
}

/** Mapping of the provider's groups to ours. */
export function MappingTable(props: {
  readonly mapping: Mapping
  readonly groups: readonly UserGroup[]
  readonly readOnly: boolean
  readonly onChange: (mapping: Mapping) => void
}) {
  const { groups, readOnly } = props
  // Lines that are not filled in yet have no place in the mapping.
  const [lines, setLines] = useState<readonly Line[]>(() =>
    Object.entries(props.mapping).map(([theirs, ours], id) => ({ id, theirs, ours })),
  )
  const set = (next: readonly Line[]) => {
    setLines(next)
    const whole = next.filter(({ theirs, ours }) => theirs !== '' && ours !== '')
    props.onChange(Object.fromEntries(whole.map(({ theirs, ours }) => [theirs, ours])))
  }
  const change = (id: number, edit: Partial<Line>) =>
    set(lines.map((line) => (line.id === id ? { ...line, ...edit } : line)))
  const choices = groups.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {say('identity.mapping')}
      </Text>
      {lines.map((line, at) => (
        <Group key={line.id} gap="xs" wrap="nowrap" align="center">
          <TextInput
            flex={1}
            aria-label={say('identity.theirs')}
            placeholder={say('identity.theirs')}
            value={line.theirs}
            disabled={readOnly}
            onChange={(event) => change(line.id, { theirs: event.currentTarget.value })}
          />
          <Text span aria-hidden c="dimmed">
            →
          </Text>
          <Select
            flex={1}
            aria-label={say('identity.ours')}
            placeholder={say('identity.ours')}
            searchable
            data={withUnknown(choices, line.ours)}
            value={line.ours === '' ? null : line.ours}
            disabled={readOnly}
            onChange={(ours) => change(line.id, { ours: ours ?? '' })}
          />
          {!readOnly && (
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={say('identity.mapRemove', { name: line.theirs || at + 1 })}
              onClick={() => set(lines.filter(({ id }) => id !== line.id))}
            >
              <Trash2Icon size={16} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
      {!readOnly && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<PlusIcon size={14} aria-hidden />}
            onClick={() =>
              set([...lines, { id: Math.max(-1, ...lines.map(({ id }) => id)) + 1, theirs: '', ours: '' }])
            }
          >
            {say('identity.mapAdd')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type Choices = readonly { readonly value: string; readonly label: string }[]

/** A group that is gone, or not to be seen, stays what it is. */
function withUnknown(choices: Choices, id: string): { value: string; label: string }[] {
  const known = id === '' || choices.some(({ value }) => value === id)
  return [...choices, ...(known ? [] : [{ value: id, label: id }])]
}
