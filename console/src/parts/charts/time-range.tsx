import { Button, Group, Popover, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { CalendarRangeIcon } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { Span } from '../../api/traffic/analytics.ts'
import { say } from '../../texts/say.ts'
import { LENGTHS_MS, minuteText, spanOf, type TimeWords, wordsOf } from './time-buckets.ts'

const AT_MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Chooses a time: the last minutes, hours, day, week, month, or from here to there in the reader's zone. */
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
