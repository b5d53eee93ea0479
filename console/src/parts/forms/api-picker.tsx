import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { APIS_KEY, apiKey, listApis, readApi } from '../../api/apis/apis.ts'
import { useMay } from '../../api/people/session.ts'
import { say } from '../../texts/say.ts'

const PAUSE_MS = 200

/** An API that was chosen. */
export interface PickedApi {
  readonly id: string
  readonly name: string
}

/** Chooses an API by its name; the dashboard looks for it, so that thousands do no harm. */
export function ApiPicker(props: {
  readonly label: string
  readonly placeholder?: string
  /** Id of the one that is chosen; '' = none. */
  readonly value: string
  readonly onPick: (api: PickedApi | undefined) => void
  /** Ids that are not offered. */
  readonly without?: readonly string[]
  readonly hiddenLabel?: boolean
}) {
  const [typed, setTyped] = useState('')
  const [wanted] = useDebouncedValue(typed, PAUSE_MS)
  // A field whose choice is called otherwise for a moment would write that over what is being typed.
  const [seen] = useState(() => new Map<string, string>())
  const mayRead = useMay('apis')
  const { data } = useQuery({
    queryKey: [...APIS_KEY, 'picked', wanted],
    queryFn: ({ signal }) => listApis({ p: 1, q: wanted, sort: 'name' }, signal),
    placeholderData: keepPreviousData,
    enabled: mayRead,
  })
  const offered = (data?.apis ?? []).filter(({ api_id }) => !props.without?.includes(api_id))
  const known = new Map(offered.map(({ api_id, name }) => [api_id, name]))
  for (const [id, name] of known) seen.set(id, name)
  const isElsewhere = props.value !== '' && !known.has(props.value)
  const chosen = useQuery({
    queryKey: apiKey(props.value),
    queryFn: ({ signal }) => readApi(props.value, signal),
    enabled: mayRead && isElsewhere && data !== undefined && !seen.has(props.value),
  })
  if (isElsewhere) known.set(props.value, seen.get(props.value) ?? chosen.data?.name ?? props.value)
  return (
    <Select
      {...(props.hiddenLabel ? { 'aria-label': props.label } : { label: props.label })}
      placeholder={props.placeholder ?? say('rights.find')}
      searchable
      clearable={props.value !== ''}
      clearButtonProps={{ 'aria-label': say('keys.clear') }}
      nothingFoundMessage={say('keys.nothingFound')}
      filter={({ options }) => options}
      value={props.value === '' ? null : props.value}
      searchValue={typed}
      onSearchChange={setTyped}
      data={[...known].map(([value, label]) => ({ value, label }))}
      onChange={(id) => props.onPick(id === null ? undefined : { id, name: known.get(id) ?? id })}
    />
  )
}
