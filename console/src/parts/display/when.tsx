import { Text, Tooltip } from '@mantine/core'
import { say } from '../../texts/say.ts'

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const NUMBER = new Intl.NumberFormat()
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Number.POSITIVE_INFINITY],
]

/** Moments before this are no dates but zeros in some clothing. */
const FIRST_YEAR = 1971

/** A moment in the reader's zone, how long ago or until, and exactly when the pointer rests on it. */
export function When({ at }: { readonly at: string | number | Date | null | undefined }) {
  const date = dateOf(at)
  if (date === undefined)
    return (
      <Text span c="dimmed" inherit>
        {say('part.never')}
      </Text>
    )
  return (
    <Tooltip label={FULL.format(date)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={date.toISOString()}>{relative(date)}</time>
    </Tooltip>
  )
}

/** Exactly when, in the reader's zone and manner. */
export function fullTime(at: string | number | Date): string {
  const date = dateOf(at)
  return date === undefined ? say('part.never') : FULL.format(date)
}

/** A number in the reader's manner. */
export function count(value: number): string {
  return NUMBER.format(value)
}

/** A number where there is little room: `12.3K`. */
export function shortCount(value: number): string {
  return value < 10_000 ? NUMBER.format(value) : COMPACT.format(value)
}

/** Milliseconds as people say them. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}

/** Milliseconds with their fractions, for what is over in less than one. */
export function milliseconds(ms: number): string {
  return `${ms < 100 ? ms.toFixed(2) : Math.round(ms)} ms`
}

function dateOf(at: string | number | Date | null | undefined): Date | undefined {
  if (at === null || at === undefined || at === '' || at === 0) return undefined
  // Whole seconds and milliseconds both come over the wire.
  const date = typeof at === 'number' && at < 1e11 ? new Date(at * 1000) : new Date(at)
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < FIRST_YEAR ? undefined : date
}

function relative(date: Date): string {
  let amount = (date.getTime() - Date.now()) / 1000
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return RELATIVE.format(Math.round(amount), unit)
    amount /= size
  }
  return FULL.format(date)
}
