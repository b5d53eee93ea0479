import { NumberInput, Select, SimpleGrid } from '@mantine/core'
import type { Limits } from '../../api/access/keys.ts'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'

const KNOWN = [1, 10, 60, 3600, 86_400, 604_800, 2_592_000, 31_536_000] as const
type Known = (typeof KNOWN)[number]

const DAY_S = 86_400
const MINUTE_S = 60

/** Seconds in the words of people. */
export function timeText(seconds: number): string {
  const known = KNOWN.find((each) => each === seconds)
  return known === undefined
    ? say('keys.seconds', { count: count(seconds) })
    : say(`keys.duration.${known satisfies Known}`)
}

const EACH = [1, 60, 3600, 86_400, 604_800] as const

/** The same behind the word "per": `per minute`. */
export function eachText(seconds: number): string {
  const known = EACH.find((each) => each === seconds)
  return known === undefined ? timeText(seconds) : say(`keys.each.${known}`)
}

/** How many requests in which time, and how many until when: of a session, a policy or a right. */
export function LimitInputs({
  value,
  onChange,
}: {
  readonly value: Limits
  readonly onChange: (next: Limits) => void
}) {
  const { rate = 0, per = 0, quota_max: quota = 0, quota_renewal_rate: renewal = 0 } = value
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
      <Count
        label={say('keys.rate')}
        value={rate}
        onChange={(next) => onChange({ ...value, rate: next, per: per || MINUTE_S })}
      />
      <Time label={say('keys.per')} value={per || MINUTE_S} onChange={(next) => onChange({ ...value, per: next })} />
      <Count
        label={say('keys.quotaMax')}
        value={quota}
        onChange={(next) => onChange({ ...value, quota_max: next, quota_renewal_rate: renewal || DAY_S })}
      />
      <Time
        label={say('keys.quotaRenewal')}
        value={renewal || DAY_S}
        onChange={(next) => onChange({ ...value, quota_renewal_rate: next })}
      />
    </SimpleGrid>
  )
}

interface Part {
  readonly label: string
  readonly value: number
  readonly onChange: (value: number) => void
}

function Count({ label, value, onChange }: Part) {
  return (
    <NumberInput
      label={label}
      placeholder={say('keys.noLimit')}
      min={0}
      allowDecimal={false}
      thousandSeparator=" "
      value={value > 0 ? value : ''}
      onChange={(next) => onChange(Number(next) || 0)}
    />
  )
}

function Time({ label, value, onChange }: Part) {
  const choices = [...new Set<number>([...KNOWN, value])].sort((a, b) => a - b)
  return (
    <Select
      label={label}
      allowDeselect={false}
      value={String(value)}
      data={choices.map((seconds) => ({ value: String(seconds), label: timeText(seconds) }))}
      onChange={(next) => onChange(Number(next))}
    />
  )
}
