import { Button, Collapse, Group, Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { SlidersHorizontalIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMay } from '../../api/people/session.ts'
import { findApis, REQUESTS_KEY, type RequestFilters } from '../../api/traffic/requests.ts'
import { say } from '../../texts/say.ts'
import { NO_FILTERS } from './request-search.ts'

interface Props {
  readonly filters: RequestFilters
  readonly set: (change: Partial<RequestFilters>) => void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const TYPING_MS = 350
const HIDDEN_AT_FIRST: readonly (keyof RequestFilters)[] = ['key', 'client', 'tag']

/** The filters of requests; all of them are in the address. */
export function Filters({ filters, set }: Props) {
  const [isOpen, { toggle }] = useDisclosure(HIDDEN_AT_FIRST.some((name) => filters[name] !== ''))
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <Stack gap="xs" mb="md">
      <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="xs">
        <ApiFilter value={filters.api} onChange={(api) => set({ api })} />
        <Select
          label={say('requests.method')}
          placeholder={say('requests.any')}
          size="xs"
          clearable
          data={METHODS}
          value={filters.method.toUpperCase() || null}
          onChange={(method) => set({ method: method ?? '' })}
        />
        <Typed name="path" label={say('requests.path')} hint={say('requests.pathPart')} filters={filters} set={set} />
        <Typed
          name="status"
          label={say('requests.status')}
          hint="404"
          filters={filters}
          set={set}
          pattern={/^\d{0,3}$/}
        />
        <Typed
          name="request_id"
          label={say('requests.id')}
          hint={say('requests.idHint')}
          filters={filters}
          // One request: nothing else narrows it down.
          set={({ request_id = '' }) => set({ ...NO_FILTERS, request_id })}
        />
      </SimpleGrid>
      <Collapse expanded={isOpen}>
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
          <Typed name="key" label={say('requests.key')} hint={say('requests.keyHash')} filters={filters} set={set} />
          <Typed
            name="client"
            label={say('requests.client')}
            hint={say('requests.clientId')}
            filters={filters}
            set={set}
          />
          <Typed name="tag" label={say('requests.tag')} hint={say('requests.any')} filters={filters} set={set} />
        </SimpleGrid>
      </Collapse>
      <Group gap="md">
        <Switch
          size="xs"
          label={say('requests.errors')}
          checked={filters.errors === '1'}
          onChange={(event) => set({ errors: event.currentTarget.checked ? '1' : '' })}
        />
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<SlidersHorizontalIcon size={13} aria-hidden />}
          onClick={toggle}
          aria-expanded={isOpen}
        >
          {say(isOpen ? 'requests.fewer' : 'requests.more')}
        </Button>
        {isFiltered && (
          <Button size="compact-xs" variant="subtle" onClick={() => set(NO_FILTERS)}>
            {say('requests.clear')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

/** A field that takes effect when typing pauses. */
function Typed(
  props: Props & {
    readonly name: keyof RequestFilters
    readonly label: string
    readonly hint: string
    readonly pattern?: RegExp
  },
) {
  const { name, filters, set } = props
  const [text, setText] = useState(filters[name])
  const commit = useDebouncedCallback((value: string) => set({ [name]: value.trim() }), TYPING_MS)
  useEffect(() => setText(filters[name]), [filters[name], name])
  return (
    <TextInput
      size="xs"
      label={props.label}
      placeholder={props.hint}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        if (props.pattern?.test(value) === false) return
        setText(value)
        commit(value)
      }}
    />
  )
}

function ApiFilter({ value, onChange }: { readonly value: string; readonly onChange: (api: string) => void }) {
  const mayList = useMay('apis')
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text, TYPING_MS)
  const { data = [] } = useQuery({
    queryKey: [...REQUESTS_KEY, 'apis', asked],
    queryFn: ({ signal }) => findApis(asked, signal),
    enabled: mayList,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const chosen = useQuery({
    queryKey: [...REQUESTS_KEY, 'api', value],
    queryFn: async ({ signal }) => (await findApis(value, signal)).find(({ id }) => id === value)?.name ?? value,
    enabled: mayList && value !== '',
    staleTime: 600_000,
  })
  const found =
    data.some(({ id }) => id === value) || value === '' ? data : [{ id: value, name: chosen.data ?? value }, ...data]
  return (
    <Select
      label={say('requests.api')}
      placeholder={say('requests.anyApi')}
      size="xs"
      clearable
      searchable
      maxDropdownHeight={280}
      data={found.map(({ id, name }) => ({ value: id, label: name }))}
      value={value === '' ? null : value}
      // The dashboard has searched; all results are shown.
      filter={({ options }) => options}
      onSearchChange={setText}
      onChange={(api) => onChange(api ?? '')}
    />
  )
}
