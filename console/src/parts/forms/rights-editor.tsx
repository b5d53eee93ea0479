import { ActionIcon, Button, Card, Group, MultiSelect, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { PlusIcon, XIcon } from 'lucide-react'
import type { AllowedUrl, Right, Rights } from '../../api/access/keys.ts'
import { say } from '../../texts/say.ts'
import { ApiPicker } from './api-picker.tsx'
import { LimitInputs } from './limit-inputs.tsx'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const

/** Rights over APIs: which, which versions, which paths with which methods, and limits at one of them. */
export function RightsEditor(props: { readonly value: Rights; readonly onChange: (rights: Rights) => void }) {
  const { value, onChange } = props
  const put = (right: Right) => onChange({ ...value, [right.api_id]: right })
  const ids = Object.keys(value)
  return (
    <Stack gap="sm">
      {ids.length === 0 && (
        <Text size="sm" c="dimmed">
          {say('rights.none')}
        </Text>
      )}
      {ids.map((id) => (
        <OneRight
          key={id}
          right={value[id]!}
          onChange={put}
          onRemove={() => onChange(Object.fromEntries(Object.entries(value).filter(([each]) => each !== id)))}
        />
      ))}
      <ApiPicker
        key={ids.join()}
        label={say('rights.add')}
        value=""
        without={ids}
        onPick={(api) =>
          api && put({ api_id: api.id, api_name: api.name, versions: ['Default'], allowed_urls: [], limit: null })
        }
      />
    </Stack>
  )
}

interface Props {
  readonly right: Right
  readonly onChange: (right: Right) => void
}

function OneRight({ right, onChange, onRemove }: Props & { readonly onRemove: () => void }) {
  const name = right.api_name || right.api_id
  const urls = right.allowed_urls ?? []
  const hasLimits = right.limit !== null && right.limit !== undefined
  return (
    <Card withBorder padding="md">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600} className="wrap-anywhere" dir="auto">
            {name}
          </Text>
          <ActionIcon variant="subtle" color="gray" aria-label={say('rights.remove', { name })} onClick={onRemove}>
            <XIcon size={16} aria-hidden />
          </ActionIcon>
        </Group>
        <TagsInput
          label={say('rights.versions')}
          description={say('rights.versionsHint')}
          value={[...(right.versions ?? [])]}
          onChange={(versions) => onChange({ ...right, versions })}
        />
        <Switch
          label={say('rights.paths')}
          checked={urls.length > 0}
          onChange={({ currentTarget }) =>
            onChange({ ...right, allowed_urls: currentTarget.checked ? [{ url: '^/', methods: ['GET'] }] : [] })
          }
        />
        {urls.length > 0 && <Paths urls={urls} onChange={(next) => onChange({ ...right, allowed_urls: next })} />}
        <Switch
          label={say('rights.limits')}
          checked={hasLimits}
          onChange={({ currentTarget }) => onChange({ ...right, limit: currentTarget.checked ? {} : null })}
        />
        {hasLimits && <LimitInputs value={right.limit ?? {}} onChange={(limit) => onChange({ ...right, limit })} />}
      </Stack>
    </Card>
  )
}

function Paths(props: { readonly urls: readonly AllowedUrl[]; readonly onChange: (urls: AllowedUrl[]) => void }) {
  const { urls, onChange } = props
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {say('rights.pathsHint', { name: '{name}' })}
      </Text>
      {urls.map(({ url, methods }, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their index alone while paths are typed
        <Group key={row} gap="xs" align="flex-start" wrap="nowrap">
          <Group gap="xs" flex={1} align="flex-start">
            <TextInput
              flex="1 1 10rem"
              aria-label={say('rights.path', { at: row + 1 })}
              value={url}
              onChange={({ currentTarget }) => onChange(urls.with(row, { url: currentTarget.value, methods }))}
            />
            <MultiSelect
              flex="1 1 12rem"
              aria-label={say('rights.methods', { at: row + 1 })}
              placeholder={methods.length === 0 ? say('keys.noMethod') : ''}
              data={[...new Set([...METHODS, ...methods])]}
              value={[...methods]}
              onChange={(next) => onChange(urls.with(row, { url, methods: next }))}
            />
          </Group>
          <ActionIcon
            mt={4}
            variant="subtle"
            color="gray"
            aria-label={say('rights.removePath', { at: row + 1 })}
            onClick={() => onChange(urls.toSpliced(row, 1))}
          >
            <XIcon size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<PlusIcon size={14} aria-hidden />}
          onClick={() => onChange([...urls, { url: '^/', methods: ['GET'] }])}
        >
          {say('rights.addPath')}
        </Button>
      </Group>
    </Stack>
  )
}
