import { List, Loader, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KEYS_KEY, listKeys } from '../../api/access/keys.ts'
import type { Policy } from '../../api/access/policies.ts'
import { useMay } from '../../api/people/session.ts'
import { CATALOGUE_KEY, readCatalogue } from '../../api/portal/catalogue.ts'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

const MOST_NAMES = 3

/** The objects that depend on a policy, as far as the reader may see them. */
export function PolicyDependents({ policy }: { readonly policy: Policy }) {
  const keys = useQuery({
    queryKey: [...KEYS_KEY, 'list', 'of policy', policy.id],
    queryFn: ({ signal }) => listKeys({ q: '', p: 1, policy: policy.id }, signal),
    enabled: useMay('keys'),
  })
  const catalogue = useQuery({
    queryKey: CATALOGUE_KEY,
    queryFn: ({ signal }) => readCatalogue(signal),
    enabled: useMay('portal'),
  })
  const offers = catalogue.data?.apis.filter(({ policy_id: id }) => [policy.id, policy._id].includes(id)) ?? []
  const { keys: first = [], pages = 1 } = keys.data ?? {}
  return (
    <Stack gap="xs">
      <span>{say('policies.deleteWhat')}</span>
      {(keys.isLoading || catalogue.isLoading) && <Loader size="sm" role="status" aria-label={say('part.loading')} />}
      <List size="sm">
        {first.length > 0 && (
          <List.Item>
            {pages > 1
              ? say('policies.dependentKeysMany', { count: count((pages - 1) * first.length) })
              : say('policies.dependentKeys', { count: count(first.length) })}
          </List.Item>
        )}
        {offers.length > 0 && (
          <List.Item className="wrap-anywhere">
            {say('policies.dependentOffers', {
              count: count(offers.length),
              names: [
                ...offers.slice(0, MOST_NAMES).map(({ name }) => name),
                ...(offers.length > MOST_NAMES ? ['…'] : []),
              ].join(', '),
            })}
          </List.Item>
        )}
      </List>
    </Stack>
  )
}
