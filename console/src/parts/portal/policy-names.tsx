import { Anchor, Badge, Group } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/people/session.ts'
import { OFFERS_KEY, policiesNamed } from '../../api/portal/catalogue.ts'

const FRESH_MS = 60_000

/** A long name wraps. */
const WRAPS = {
  root: { height: 'auto' },
  label: { whiteSpace: 'normal', overflowWrap: 'anywhere', paddingBlock: 2 },
} as const

/** The names of policies by either of their ids. Who may not read policies sees ids. */
export function usePolicyNames(ids: readonly string[]): (id: string) => string {
  const may = useMay('policies')
  const asked = [...new Set(ids)].filter((id) => id !== '').sort()
  const { data = [] } = useQuery({
    queryKey: [...OFFERS_KEY, 'named', asked],
    queryFn: ({ signal }) => policiesNamed(asked, signal),
    enabled: may && asked.length > 0,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  })
  const names = new Map(data.flatMap((policy) => [policy.id, policy._id].map((id) => [id, policy.name] as const)))
  return (id) => names.get(id) ?? id
}

/** Policies in a cell, each leading to its page. */
export function PolicyBadges(props: { readonly ids: readonly string[]; readonly nameOf: (id: string) => string }) {
  const may = useMay('policies')
  return (
    <Group gap={6}>
      {props.ids.map((id) => (
        <Badge key={id} variant="default" tt="none" fw={500} radius="md" maw="100%" styles={WRAPS}>
          {may ? (
            <Anchor component={Link} to={`/policies/${encodeURIComponent(id)}`} inherit dir="auto">
              {props.nameOf(id)}
            </Anchor>
          ) : (
            props.nameOf(id)
          )}
        </Badge>
      ))}
    </Group>
  )
}
