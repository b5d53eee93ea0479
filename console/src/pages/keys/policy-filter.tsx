import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import { OFFERS_KEY, searchPolicies } from '../../api/portal/catalogue.ts'
import { usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { say } from '../../texts/say.ts'

const PAUSE_MS = 200

/** Chooses a policy to filter by. Nothing for who may not read policies. */
export function PolicyFilter({ value, onPick }: { readonly value: string; readonly onPick: (id: string) => void }) {
  const [typed, setTyped] = useState('')
  const [wanted] = useDebouncedValue(typed, PAUSE_MS)
  const mayRead = useMay('policies')
  const nameOf = usePolicyNames([value])
  const { data = [] } = useQuery({
    queryKey: [...OFFERS_KEY, 'search', wanted],
    queryFn: ({ signal }) => searchPolicies(wanted, signal),
    placeholderData: keepPreviousData,
    enabled: mayRead,
  })
  if (!mayRead) return null
  const known = new Map(data.map(({ id, _id, name }) => [id || _id, name]))
  if (value !== '' && !known.has(value)) known.set(value, nameOf(value))
  return (
    <Select
      aria-label={say('keys.byPolicy')}
      placeholder={say('keys.anyPolicy')}
      searchable
      clearable={value !== ''}
      clearButtonProps={{ 'aria-label': say('keys.clear') }}
      nothingFoundMessage={say('keys.nothingFound')}
      filter={({ options }) => options}
      value={value === '' ? null : value}
      searchValue={typed}
      onSearchChange={setTyped}
      data={[...known].map(([id, label]) => ({ value: id, label }))}
      onChange={(id) => onPick(id ?? '')}
    />
  )
}
