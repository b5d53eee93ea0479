import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { KEYS_KEY, listKeys } from '../../api/access/keys.ts'
import type { Policy } from '../../api/access/policies.ts'
import { useMay } from '../../api/people/session.ts'
import { count } from '../../parts/display/when.tsx'
import { Overview } from '../../parts/overview/overview.tsx'
import { quotaText, rateText } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'

/** The state of a policy: its limits, the keys that have it, and its latest changes. */
export function PolicyOverview({ policy }: { readonly policy: Policy }) {
  const { data: keys } = useQuery({
    queryKey: [...KEYS_KEY, 'list', 'of policy', policy.id],
    queryFn: ({ signal }) => listKeys({ q: '', p: 1, policy: policy.id }, signal),
    enabled: useMay('keys'),
  })
  const apis = Object.values(policy.access_rights ?? {}).map(({ api_id, api_name }) => api_name || api_id)
  return (
    <Overview
      kind="policy"
      id={policy.id}
      facts={[
        { name: say('overview.state'), value: say(policy.active ? 'overview.active' : 'overview.inactive') },
        { name: say('overview.rate'), value: rateText(policy) },
        { name: say('overview.quota'), value: quotaText(policy) },
        { name: say('overview.apis'), value: apis.join(', ') || say('overview.none') },
        ...(keys === undefined
          ? []
          : [
              {
                name: say('overview.keys'),
                value: (
                  <Anchor
                    component={Link}
                    to="/keys"
                    search={{ policy: policy.id } as never}
                    size="sm"
                    underline="always"
                  >
                    {keys.pages > 1 ? `> ${count((keys.pages - 1) * keys.keys.length)}` : count(keys.keys.length)}
                  </Anchor>
                ),
              },
            ]),
      ]}
    />
  )
}
