import { Progress, Stack, Text } from '@mantine/core'
import type { Limits } from '../../api/access/keys.ts'
import { say } from '../../texts/say.ts'
import { count, When } from './when.tsx'

const NEARLY = 80
const FULL = 100

/** How much of a quota is used up, and when it renews. */
export function QuotaGauge({ limits }: { readonly limits: Limits }) {
  const { quota_max: max = 0, quota_renews: renews = 0 } = limits
  if (max <= 0) return <Text size="sm">{say('keys.unlimited')}</Text>
  const left = Math.max(0, limits.quota_remaining ?? max)
  const used = Math.min(FULL, ((max - left) / max) * FULL)
  const colour = used >= FULL ? 'red' : used >= NEARLY ? 'orange' : undefined
  return (
    <Stack gap={4} miw={110}>
      <Text size="sm" className="number" ta="left">
        {say('keys.left', { left: count(left), max: count(max) })}
      </Text>
      <Progress value={used} size="sm" aria-label={say('keys.quota')} {...(colour && { color: colour })} />
      {renews > 0 && (
        <Text size="xs" c="dimmed">
          {say('keys.renews')} <When at={renews} />
        </Text>
      )}
    </Stack>
  )
}
