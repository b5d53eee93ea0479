import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { PlusIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { useIsAdministrator } from '../../api/people/session.ts'
import {
  CUSTOM_PERMISSIONS_KEY,
  type Rights,
  readCustomPermissions,
  saveCustomPermissions,
} from '../../api/people/users.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { say } from '../../texts/say.ts'

/** Permissions that the organisation adds to those of the product. Administrators alone may see and change them. */
export function CustomPermissions() {
  const isAdministrator = useIsAdministrator()
  const stored = useQuery({
    queryKey: CUSTOM_PERMISSIONS_KEY,
    queryFn: ({ signal }) => readCustomPermissions(signal),
    enabled: isAdministrator,
  })
  if (!isAdministrator || stored.data === undefined) return null
  return (
    <Paper withBorder p="md" mt="xl">
      <Title order={2} size="h4">
        {say('custom.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say('custom.hint')}
      </Text>
      <Editor key={JSON.stringify(stored.data)} stored={stored.data} />
    </Paper>
  )
}

interface Line {
  readonly id: number
  readonly key: string
  readonly label: string
}

function Editor({ stored }: { readonly stored: Rights }) {
  const client = useQueryClient()
  const [lines, setLines] = useState<readonly Line[]>(() =>
    Object.entries(stored).map(([key, label], id) => ({ id, key, label })),
  )
  const names = Object.fromEntries(lines.filter(({ key }) => key !== '').map(({ key, label }) => [key, label || key]))
  const saving = useMutation({
    mutationFn: () => saveCustomPermissions(names),
    onSuccess: async () => {
      notifyDone(say('part.saved'))
      await client.invalidateQueries({ queryKey: CUSTOM_PERMISSIONS_KEY })
    },
  })
  const change = (id: number, edit: Partial<Line>) =>
    setLines(lines.map((line) => (line.id === id ? { ...line, ...edit } : line)))
  const add = () => setLines([...lines, { id: Math.max(-1, ...lines.map(({ id }) => id)) + 1, key: '', label: '' }])
  return (
    <Stack gap="xs">
      {lines.map((line, at) => (
        <Group key={line.id} gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            aria-label={say('custom.key')}
            placeholder={say('custom.key')}
            value={line.key}
            onChange={(event) => change(line.id, { key: event.currentTarget.value.trim() })}
          />
          <TextInput
            flex={1}
            aria-label={say('custom.label')}
            placeholder={say('custom.label')}
            value={line.label}
            onChange={(event) => change(line.id, { label: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={say('custom.remove', { name: line.label || line.key || at + 1 })}
            onClick={() => setLines(lines.filter(({ id }) => id !== line.id))}
          >
            <Trash2Icon size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <FaultBox error={saving.error} />
      <Group justify="space-between">
        <Button variant="default" size="xs" leftSection={<PlusIcon size={14} aria-hidden />} onClick={add}>
          {say('custom.add')}
        </Button>
        <Button
          size="xs"
          disabled={JSON.stringify(names) === JSON.stringify(stored)}
          loading={saving.isPending}
          onClick={() => saving.mutate()}
        >
          {say('part.save')}
        </Button>
      </Group>
    </Stack>
  )
}
