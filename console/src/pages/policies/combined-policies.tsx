import { Paper, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { KEYS_KEY, previewKey } from '../../api/access/keys.ts'
import type { Policy } from '../../api/access/policies.ts'
import { useMay } from '../../api/people/session.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PolicyPicker } from '../../parts/portal/policy-picker.tsx'
import { RightsTable } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'

/** The access of a key with this policy and others, as the dashboard merges them. */
export function CombinedPolicies({ policy }: { readonly policy: Policy }) {
  const may = useMay('keys')
  const [others, setOthers] = useState<readonly string[]>([])
  const session = { apply_policies: [policy.id, ...others.filter((id) => id !== policy.id)] }
  const { data, error } = useQuery({
    queryKey: [...KEYS_KEY, 'preview', session, policy.last_updated],
    queryFn: ({ signal }) => previewKey(session, signal),
    placeholderData: keepPreviousData,
    enabled: may,
  })
  if (!may) return null
  return (
    <Paper withBorder p="lg" maw={820} mt="md" component="section" aria-labelledby="together">
      <Title order={2} size="h4" id="together">
        {say('policies.together')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {say('policies.togetherHint')}
      </Text>
      <PolicyPicker label={say('policies.withOthers')} value={others} onChange={setOthers} />
      {error !== null && <FaultBox error={error} />}
      {data !== undefined && (
        <RightsTable rights={data.access_rights ?? {}} label={say('policies.togetherResult')} isPlan />
      )}
    </Paper>
  )
}
