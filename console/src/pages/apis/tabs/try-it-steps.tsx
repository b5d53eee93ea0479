import { Badge, Card, Group, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { ArrowRightIcon, BanIcon, CheckIcon, type LucideIcon, ReplyIcon } from 'lucide-react'
import type { TryResult, TryStep } from '../../../api/apis/try-it.ts'
import { count } from '../../../parts/display/when.tsx'
import { say } from '../../../texts/say.ts'

const SIGNS: Readonly<Record<TryStep['outcome'], { readonly icon: LucideIcon; readonly colour: string }>> = {
  passed: { icon: CheckIcon, colour: 'teal' },
  refused: { icon: BanIcon, colour: 'red' },
  answered: { icon: ReplyIcon, colour: 'blue' },
  forwarded: { icon: ArrowRightIcon, colour: 'teal' },
}

/** Which steps of the gateway a request passed, which one ended it and why, and what is left of its limits. */
export function TrySteps({ tried: { steps, explained } }: { readonly tried: TryResult }) {
  const target = explained.result?.targets?.[0]
  return (
    <Card withBorder padding="lg" component="section">
      <Title order={2} size="h4">
        {say('try.steps')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {say('try.stepsHint')}
      </Text>
      <Stack gap="xs" component="ol" p={0} m={0} style={{ listStyle: 'none' }}>
        {steps.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step may be listed twice, and the list never changes
          <Step key={at} step={step} target={step.outcome === 'forwarded' ? target : undefined} />
        ))}
      </Stack>
      {(explained.limits ?? []).length > 0 && (
        <Group gap="xs" mt="md">
          {explained.limits?.map(({ kind, max, remaining }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two limits may read the same, and the list never changes
            <Badge key={at} variant="default" tt="none" fw={500}>
              {words(kind)}: {say('try.limitLeft', { left: count(remaining), max: count(max) })}
            </Badge>
          ))}
        </Group>
      )}
    </Card>
  )
}

function Step({ step, target }: { readonly step: TryStep; readonly target: string | undefined }) {
  const { icon: Sign, colour } = SIGNS[step.outcome]
  const more = step.reason ?? step.detail ?? (target === undefined ? undefined : say('try.sentTo', { target }))
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon size={26} radius="xl" variant="light" color={colour} aria-hidden>
        <Sign size={15} />
      </ThemeIcon>
      <div>
        <Text size="sm">
          <Text span fw={600} inherit>
            {words(step.step)}
          </Text>{' '}
          <Text span c="dimmed" inherit>
            {say(`try.${step.outcome}`)}
          </Text>
        </Text>
        {more !== undefined && (
          <Text size="xs" c="dimmed" className="wrap-anywhere" dir="auto">
            {more}
          </Text>
        )}
      </div>
    </Group>
  )
}

/** `filterAddress` as people write it: `Filter address`. */
function words(name: string): string {
  const text = name.replace(/_/g, ' ').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
