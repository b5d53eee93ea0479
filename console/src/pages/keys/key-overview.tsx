import type { KeyDetails } from '../../api/access/keys.ts'
import { Overview } from '../../parts/overview/overview.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { quotaText, rateText } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'
import { KeyState } from './key-table.tsx'

/** The state of a key: its traffic, limits in force, policies, and its latest changes. */
export function KeyOverview({ details }: { readonly details: KeyDetails }) {
  const { data, facts, key_hash: hash } = details
  const nameOf = usePolicyNames(facts.policies)
  const apis = Object.values(data.access_rights ?? {})
  return (
    <Overview
      kind="session"
      id={hash}
      traffic={{ key: hash }}
      next={apis.slice(0, 1).map(({ api_id }) => ({
        label: say('overview.tryIt'),
        to: `/apis/${encodeURIComponent(api_id)}`,
        search: { tab: 'try' },
      }))}
      facts={[
        { name: say('overview.state'), value: <KeyState entry={details} /> },
        { name: say('overview.rate'), value: rateText(data) },
        { name: say('overview.quota'), value: quotaText(data) },
        {
          name: say('overview.policies'),
          value:
            facts.policies.length === 0 ? say('overview.none') : <PolicyBadges ids={facts.policies} nameOf={nameOf} />,
        },
        {
          name: say('overview.apis'),
          value: apis.map(({ api_id, api_name }) => api_name || api_id).join(', ') || say('overview.none'),
        },
      ]}
    />
  )
}
