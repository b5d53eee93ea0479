import { Button, Group, Popover, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { CalendarRangeIcon } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { Resolution, Span } from '../../api/traffic/analytics.ts'
import { say } from '../../texts/say.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Words of the address that say which time is meant. */
export interface TimeWords {
  readonly range: string
  /** UTC, as in `2026-01-31T09:00`; only with the range `custom`. */
  readonly from: string
  readonly to: string
}

const LENGTHS_MS: Readonly<Record<string, number>> = {
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
}
/** Longest ranges with hourly and with daily counts. */
const BY_HOUR_MS = 8 * DAY_MS
const BY_DAY_MS = 186 * DAY_MS

/** The exact time that words mean, `nowMs` being now; words that mean none are the last 24 hours. */
export function spanOf({ range, from, to }: TimeWords, nowMs: number): Span {
  const lengthMs = LENGTHS_MS[range]
  if (range === 'custom') {
    const [fromMs, toMs] = [Date.parse(`${from}Z`), Date.parse(`${to}Z`)]
    if (fromMs < toMs) return { fromMs, toMs }
  }
  return { fromMs: nowMs - (lengthMs ?? DAY_MS), toMs: nowMs }
}

/** The same in whole buckets: how long one is, and the span widened to those that it touches. A relative time keeps its length. */
export function bucketsOf(words: TimeWords, nowMs: number): { span: Span; res: Resolution } {
  const { fromMs, toMs } = spanOf(words, nowMs)
  const lengthMs = toMs - fromMs
  const res = lengthMs <= BY_HOUR_MS ? 'hour' : lengthMs <= BY_DAY_MS ? 'day' : 'month'
  const end = ceiling(toMs, res)
  const isRelative = words.range !== 'custom' && words.range !== '1h'
  const start = isRelative ? end - lengthMs : floor(fromMs, res)
  return { span: { fromMs: start, toMs: end }, res }
}

/** The beginnings of all buckets of a span. */
export function bucketStarts({ fromMs, toMs }: Span, res: Resolution): readonly number[] {
  const starts: number[] = []
  for (let at = fromMs; at < toMs; at = nextBucket(at, res)) starts.push(at)
  return starts
}

/** The time before a span: as many buckets, up to where it begins. */
export function spanBefore({ fromMs, toMs }: Span, res: Resolution): Span {
  if (res !== 'month') return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs }
  const months = bucketStarts({ fromMs, toMs }, res).length
  const first = new Date(fromMs)
  return { fromMs: Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - months), toMs: fromMs }
}

/** When the bucket that begins at `at` is over. */
export function nextBucket(at: number, res: Resolution): number {
  if (res === 'hour') return at + HOUR_MS
  if (res === 'day') return at + DAY_MS
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** Words for a span. */
export function wordsOf({ fromMs, toMs }: Span): TimeWords {
  return { range: 'custom', from: minuteText(fromMs), to: minuteText(toMs) }
}

const MINUTE_CHARACTERS = 16
const minuteText = (ms: number) => new Date(ms).toISOString().slice(0, MINUTE_CHARACTERS)

function floor(ms: number, res: Resolution): number {
  if (res === 'month') return Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth())
  const size = res === 'hour' ? HOUR_MS : DAY_MS
  return Math.floor(ms / size) * size
}

function ceiling(ms: number, res: Resolution): number {
  const start = floor(ms, res)
  return start === ms ? ms : nextBucket(start, res)
}

const AT_MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Chooses a time: the last hour, day, week, month, or from here to there in the reader's zone. */
export function TimeRange({
  words,
  onChange,
}: {
  readonly words: TimeWords
  readonly onChange: (w: TimeWords) => void
}) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const isCustom = words.range === 'custom'
  const span = spanOf(words, Date.now())
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={say('analytics.time')}
        value={isCustom ? '' : words.range}
        onChange={(range) => onChange({ range, from: '', to: '' })}
        data={Object.keys(LENGTHS_MS).map((value) => ({ value, label: say(`analytics.last.${value}` as never) }))}
      />
      <Popover opened={isOpen} onChange={close} position="bottom-end" withArrow trapFocus shadow="md">
        <Popover.Target>
          <Button
            size="xs"
            variant={isCustom ? 'light' : 'default'}
            leftSection={<CalendarRangeIcon size={14} aria-hidden />}
            onClick={toggle}
          >
            {isCustom ? AT_MINUTE.formatRange(span.fromMs, span.toMs) : say('analytics.fromTo')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <FromTo
            span={span}
            onChange={(next) => {
              onChange(wordsOf(next))
              close()
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </Group>
  )
}

function FromTo({ span, onChange }: { readonly span: Span; readonly onChange: (span: Span) => void }) {
  const [from, setFrom] = useState(localText(span.fromMs))
  const [to, setTo] = useState(localText(span.toMs))
  const [fromMs, toMs] = [new Date(from).getTime(), new Date(to).getTime()]
  const isGood = fromMs < toMs
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isGood) onChange({ fromMs, toMs })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          type="datetime-local"
          label={say('analytics.from')}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={say('analytics.to')}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={isGood ? null : say('analytics.endsBefore')}
        />
        <Text size="xs" c="dimmed" maw={240}>
          {say('analytics.zone', { zone: readerZone() })}
        </Text>
        <Button type="submit" size="xs" disabled={!isGood}>
          {say('analytics.show')}
        </Button>
      </Stack>
    </form>
  )
}

/** The reader's zone by its name. */
export function readerZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** As fields of date and time want it: without a zone, in that of the reader. */
function localText(ms: number): string {
  const date = new Date(ms)
  return minuteText(ms - date.getTimezoneOffset() * 60_000)
}
