import { Stack, Text } from '@mantine/core'
import type { KeyRequest } from '../../api/portal/key-requests.ts'
import { say } from '../../texts/say.ts'

/** The policies that a request is for, those of old requests too. */
export function askedPolicies({ apply_policies: list, for_plan: plan }: KeyRequest): readonly string[] {
  return list.length > 0 || plan === '' ? list : [plan]
}

/** The developer's answers; empty fields are left out. */
export function Answers({ request }: { readonly request: KeyRequest }) {
  const filled = Object.entries(request.fields).filter(([, value]) => value !== '')
  const redirect = request.oauth_info.redirect_uri
  const answers = [...filled, ...(redirect === '' ? [] : [[say('portal.redirect'), redirect] as const])]
  if (answers.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {say('portal.nothingFilled')}
      </Text>
    )
  return (
    <Stack gap={2}>
      {answers.map(([name, value]) => (
        <Text key={name} size="sm" lineClamp={3}>
          <Text span c="dimmed" inherit dir="auto">
            {name}:{' '}
          </Text>
          <bdi>{value}</bdi>
        </Text>
      ))}
    </Stack>
  )
}
