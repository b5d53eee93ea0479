import { Group, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ApiFacts,
  deleteApi,
  listPossibleOwners,
  readApi,
  readApiOwners,
  saveApiOwners,
} from '../../../api/apis/apis.ts'
import { type ApiLabel, applyLabel, LABELS_KEY, listLabels } from '../../../api/apis/labels.ts'
import { useMay } from '../../../api/people/session.ts'
import { saveJson } from '../../../parts/charts/save-file.ts'
import type { BulkAction } from '../../../parts/tables/bulk-actions.tsx'
import { say } from '../../../texts/say.ts'
import { setActive } from '../editor/set-active.ts'

const USER = 'user:'
const GROUP = 'group:'

/** Actions on chosen APIs; those that change them for users who may write APIs. */
export function apiActions(mayWrite: boolean): readonly BulkAction<ApiFacts>[] {
  const change: readonly BulkAction<ApiFacts>[] = [
    {
      ...{ name: 'activate', label: say('list.activate'), hint: say('apis.activateHint') },
      run: (api) => setActive(viewOf(api), true),
    },
    {
      ...{ name: 'deactivate', label: say('list.deactivate'), hint: say('apis.inactivateHint') },
      run: (api) => setActive(viewOf(api), false),
    },
    {
      ...{ name: 'label', label: say('apis.setLabel'), hint: say('apis.setLabelHint') },
      ask: (set) => <LabelFields onChange={set} />,
      run: (api, label) => applyLabel(api.api_id, label as ApiLabel),
    },
    {
      ...{ name: 'owner', label: say('apis.addOwner'), hint: say('apis.addOwnerHint') },
      ask: (set) => <OwnerField onChange={set} />,
      run: (api, owner) => addOwner(api.api_id, String(owner)),
    },
  ]
  const rest: readonly BulkAction<ApiFacts>[] = [
    {
      ...{ name: 'export', label: say('list.export'), hint: say('apis.exportHint') },
      run: async (api) => (await readApi(api.api_id)).definition,
      finish: (definitions) => saveJson(definitions, 'apis.json'),
    },
  ]
  const remove: BulkAction<ApiFacts> = {
    ...{ name: 'delete', label: say('list.delete'), hint: say('apis.deleteManyHint'), isGrave: true },
    run: (api) => deleteApi(api.api_id, false),
  }
  return mayWrite ? [...change, ...rest, remove] : rest
}

const viewOf = ({ api_id, is_oas }: ApiFacts) => ({ id: api_id, isOas: is_oas })

async function addOwner(apiId: string, owner: string): Promise<void> {
  const { userIds, userGroupIds } = await readApiOwners(apiId)
  const id = owner.slice(owner.indexOf(':') + 1)
  const withIt = (ids: readonly string[]) => [...new Set([...ids, id])]
  await saveApiOwners(
    apiId,
    owner.startsWith(USER)
      ? { userIds: withIt(userIds), userGroupIds }
      : { userIds, userGroupIds: withIt(userGroupIds) },
  )
}

function LabelFields({ onChange }: { readonly onChange: (label: ApiLabel | undefined) => void }) {
  const { data = [] } = useQuery({ queryKey: LABELS_KEY, queryFn: ({ signal }) => listLabels(signal) })
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const set = (change: Partial<ApiLabel>) => {
    const label = { key, value, ...change }
    setKey(label.key)
    setValue(label.value)
    onChange(label.key !== '' && label.value.trim() !== '' ? label : undefined)
  }
  const values = data.find((label) => label.key === key)?.values ?? []
  return (
    <Stack gap="xs">
      <Select
        label={say('apis.label')}
        searchable
        required
        value={key === '' ? null : key}
        data={data.map((label) => ({ value: label.key, label: label.name }))}
        onChange={(picked) => set({ key: picked ?? '', value: '' })}
        {...(data.length === 0 && { description: say('apis.noLabelsYet') })}
      />
      {values.length > 0 ? (
        <Select
          label={say('apis.value')}
          required
          value={value === '' ? null : value}
          data={[...values]}
          onChange={(picked) => set({ value: picked ?? '' })}
        />
      ) : (
        <TextInput
          label={say('apis.value')}
          required
          value={value}
          onChange={(event) => set({ value: event.currentTarget.value })}
          autoComplete="off"
        />
      )}
    </Stack>
  )
}

function OwnerField({ onChange }: { readonly onChange: (owner: string | undefined) => void }) {
  const may = { users: useMay('users'), groups: useMay('user_groups') }
  const { data } = useQuery({
    queryKey: ['apis', 'owners', may.users, may.groups],
    queryFn: ({ signal }) => listPossibleOwners(may, signal),
    staleTime: 60_000,
  })
  return (
    <Group grow>
      <Select
        label={say('apis.owner')}
        searchable
        required
        limit={100}
        onChange={(owner) => onChange(owner ?? undefined)}
        data={[
          {
            group: say('apis.ownerUsers'),
            items: (data?.users ?? []).map(({ id, email_address }) => ({ value: USER + id, label: email_address })),
          },
          {
            group: say('apis.ownerGroups'),
            items: (data?.groups ?? []).map(({ id, name }) => ({ value: GROUP + id, label: name })),
          },
        ].filter(({ items }) => items.length > 0)}
      />
    </Group>
  )
}
