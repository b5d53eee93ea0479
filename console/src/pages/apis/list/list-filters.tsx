import { Box, Button, Group, MultiSelect, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { APIS_KEY, listCategories } from '../../../api/apis/apis.ts'
import { LABEL_USE_KEY, LABELS_KEY, labelsInUse, listLabels } from '../../../api/apis/labels.ts'
import { SearchBox } from '../../../parts/tables/search-box.tsx'
import { say } from '../../../texts/say.ts'
import { AUTH_TYPES, authWord } from './api-labels.ts'

/** The list's state in its address, with the defaults. */
export const ABSENT = {
  ...{ q: '', sort: 'name', page: '', size: '', active: '', auth_type: '', category: '' },
  /** `key:value`, one a line: values may hold any other sign. */
  labels: '',
} as const
export type ApiWords = Readonly<Record<keyof typeof ABSENT, string>>

interface Props {
  readonly words: ApiWords
  readonly onChange: (change: Partial<ApiWords>) => void
}

/** Search and filters of the list of APIs. */
export function Filters({ words, onChange }: Props) {
  const labels = useQuery({ queryKey: LABEL_USE_KEY, queryFn: ({ signal }) => labelsInUse(signal) })
  const all = useQuery({
    queryKey: LABELS_KEY,
    queryFn: ({ signal }) => listLabels(signal),
    enabled: labels.data?.length !== 0,
  })
  const categories = useQuery({
    queryKey: [...APIS_KEY, 'categories'],
    queryFn: ({ signal }) => listCategories(signal),
  })
  const hasAny = Object.entries(words).some(([name, value]) => value !== '' && !['sort', 'page', 'size'].includes(name))
  const one = (name: 'active' | 'auth_type' | 'category') => ({
    value: words[name] === '' ? null : words[name],
    onChange: (value: string | null) => onChange({ [name]: value ?? '' }),
    clearable: true,
    clearButtonProps: { 'aria-label': say('apis.clearFilter') },
  })
  const known = labels.data ?? []
  const titles = new Map(all.data?.map(({ key, name }) => [key, name]))
  const names = categories.data ?? []
  return (
    <Group gap="xs" align="flex-end">
      <Box flex="1 1 12rem" maw={340}>
        <SearchBox value={words.q} onSearch={(q) => onChange({ q })} placeholder={say('apis.search')} />
      </Box>
      <Select
        {...one('active')}
        aria-label={say('apis.anyState')}
        placeholder={say('apis.anyState')}
        w={130}
        data={[
          { value: 'true', label: say('apis.active') },
          { value: 'false', label: say('apis.inactive') },
        ]}
      />
      <Select
        {...one('auth_type')}
        aria-label={say('apis.anyAuth')}
        placeholder={say('apis.anyAuth')}
        w={185}
        data={AUTH_TYPES.map((type) => ({ value: type, label: authWord(type) }))}
      />
      {names.length > 0 && (
        <Select
          {...one('category')}
          aria-label={say('apis.anyCategory')}
          placeholder={say('apis.anyCategory')}
          w={150}
          searchable
          limit={100}
          data={names.map(({ name, count }) => ({ value: name, label: `${name} (${count})` }))}
        />
      )}
      {known.length > 0 && (
        <MultiSelect
          aria-label={say('apis.anyLabel')}
          {...(words.labels === '' && { placeholder: say('apis.anyLabel') })}
          miw={170}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': say('apis.clearFilter') }}
          limit={100}
          value={words.labels === '' ? [] : words.labels.split('\n')}
          onChange={(values) => onChange({ labels: values.join('\n') })}
          data={known.map(({ key, values }) => ({
            group: titles.get(key) ?? key,
            items: values.map(({ value, count }) => ({ value: `${key}:${value}`, label: `${value} (${count})` })),
          }))}
        />
      )}
      {hasAny && (
        <Button variant="subtle" onClick={() => onChange({ ...ABSENT, sort: words.sort, size: words.size })}>
          {say('apis.clearAll')}
        </Button>
      )}
    </Group>
  )
}
