import { Button, Group, Pill, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TextSearchIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { readBreakdown, USAGE_KEY } from '../../api/traffic/analytics.ts'
import {
  DIMENSION_NAMES,
  type Dimension,
  dimensionRow,
  NO_FILTERS,
  type UsageFilters,
} from '../../api/traffic/dimensions.ts'
import { say } from '../../texts/say.ts'
import { type AnalyticsState, requestWords } from './analytics-state.ts'
import { rowName } from './rows.ts'

/** The active filters, each removable. */
export function Filters({ scene }: { readonly scene: AnalyticsState }) {
  const { filters, go, set } = scene
  const maySeeSingle = useMay('log')
  const names = DIMENSION_NAMES.filter((name) => filters[name] !== '')
  return (
    <Group gap="xs" mb="md">
      {names.map((name) => (
        <FilterPill key={name} scene={scene} name={name} />
      ))}
      {names.length > 1 && (
        <Button size="compact-xs" variant="subtle" onClick={() => go({ ...NO_FILTERS, page: '1' })}>
          {say('analytics.clear')}
        </Button>
      )}
      <Switch
        size="xs"
        label={say('analytics.onlyErrors')}
        checked={filters.errors === '1'}
        onChange={(event) => set({ errors: event.currentTarget.checked ? '1' : '', page: '1' })}
      />
      <Switch
        size="xs"
        label={say('analytics.compare')}
        checked={scene.before !== undefined}
        onChange={(event) => set({ compare: event.currentTarget.checked ? '' : 'no' })}
      />
      {maySeeSingle && (
        <Button
          size="compact-xs"
          variant="subtle"
          component={Link}
          leftSection={<TextSearchIcon size={14} aria-hidden />}
          {...{ to: '/requests', search: requestWords(scene.span, filters) as never }}
        >
          {say('analytics.single')}
        </Button>
      )}
    </Group>
  )
}

function FilterPill({ scene, name }: { readonly scene: AnalyticsState; readonly name: Dimension }) {
  const value = useFilterName(scene, name)
  const label = `${say(`analytics.by.${name}`)}: ${value}`
  // A version or an endpoint means nothing without its API.
  const remove: Partial<UsageFilters> = name === 'api' ? { api: '', version: '', endpoint: '' } : { [name]: '' }
  return (
    <Pill
      size="md"
      withRemoveButton
      maw="22rem"
      onRemove={() => scene.go({ ...remove, page: '1' })}
      removeButtonProps={{ 'aria-label': say('analytics.remove', { name: label }), tabIndex: 0, 'aria-hidden': false }}
    >
      {label}
    </Pill>
  )
}

/** How people call what a filter is about: the address has its id alone. */
function useFilterName({ filters, span }: AnalyticsState, name: Dimension): string {
  const value = filters[name]
  const own: UsageFilters = { ...NO_FILTERS, [name]: value }
  const { data } = useQuery({
    queryKey: [...USAGE_KEY, 'name', name, value],
    queryFn: async ({ signal }) => {
      const sorted = { by: 'Hits', descending: true, page: 1 }
      const [row] = (await readBreakdown(name, span, own, sorted, signal)).data
      return row === undefined ? value : rowName(name, row)
    },
    enabled: dimensionRow(name).isItself !== true,
    staleTime: 600_000,
  })
  return data ?? value
}
