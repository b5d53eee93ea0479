import { Group, Text, Tooltip } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon } from 'lucide-react'
import { say } from '../../texts/say.ts'

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const WHOLE_PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })
/** Less than this share of the number before is no change that anybody wants to know of. */
const SMALL = 0.005
const MOST = 9.99

/** A share as people say it: `1.5%`. */
export function percent(share: number): string {
  return PERCENT.format(share)
}

/** How much a number has changed since the period before; `rise` says whether more of it is bad news. */
export function Delta(props: {
  readonly now: number
  readonly before: number
  readonly rise: 'bad' | 'neither'
  readonly format: (value: number) => string
}) {
  const { now, before, rise } = props
  if (before === 0) return now === 0 ? null : <New />
  const change = (now - before) / before
  if (Math.abs(change) < SMALL)
    return (
      <Text size="xs" c="dimmed" span>
        {say('analytics.noChange')}
      </Text>
    )
  const isMore = change > 0
  const Arrow = isMore ? ArrowUpIcon : ArrowDownIcon
  const size = change > MOST ? `>${WHOLE_PERCENT.format(MOST)}` : WHOLE_PERCENT.format(Math.abs(change))
  const color = rise === 'neither' ? 'var(--mantine-color-dimmed)' : isMore ? BAD : GOOD
  return (
    <Tooltip label={say('analytics.beforeWas', { value: props.format(before) })}>
      <Group gap={2} wrap="nowrap" component="span" display="inline-flex" style={{ color }}>
        <Arrow size={13} aria-hidden />
        <Text
          size="xs"
          span
          inherit={false}
          aria-label={say(isMore ? 'analytics.more' : 'analytics.less', { percent: size })}
          role="img"
        >
          {size}
        </Text>
      </Group>
    </Tooltip>
  )
}

const BAD = 'light-dark(var(--mantine-color-red-8), var(--mantine-color-red-4))'
const GOOD = 'light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-4))'

function New() {
  return (
    <Tooltip label={say('analytics.newHint')}>
      <Text size="xs" c="dimmed" span>
        {say('analytics.new')}
      </Text>
    </Tooltip>
  )
}
