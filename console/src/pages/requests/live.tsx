import { ActionIcon, Badge, Button, Group, Text, Tooltip } from '@mantine/core'
import { ActivityIcon, PauseIcon, PlayIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import type { RequestFilters } from '../../api/traffic/requests.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { MOST_ROWS, type Tail, useTail } from './live-tail.ts'
import { RequestDrawer } from './request-drawer.tsx'
import type { Row } from './request-search.ts'
import { RequestTable } from './request-table.tsx'

/** Requests as they come. */
export function Live({ filters }: { readonly filters: RequestFilters }) {
  const [isPaused, setPaused] = useState(false)
  const [open, setOpen] = useState<Row>()
  const tail = useTail(filters, isPaused)
  const Sign = isPaused ? PlayIcon : PauseIcon
  return (
    <>
      <Group justify="space-between" mb="sm" gap="xs">
        <Group gap="xs">
          <Button
            size="xs"
            variant={isPaused ? 'filled' : 'default'}
            leftSection={<Sign size={14} aria-hidden />}
            onClick={() => setPaused(!isPaused)}
          >
            {say(isPaused ? 'requests.resume' : 'requests.pause')}
          </Button>
          <Tooltip label={say('requests.emptyRows')}>
            <ActionIcon variant="default" onClick={tail.clear} aria-label={say('requests.emptyRows')}>
              <Trash2Icon size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <State tail={tail} isPaused={isPaused} />
        </Group>
        <Counts tail={tail} />
      </Group>
      <RequestTable
        rows={tail.rows}
        onOpen={setOpen}
        empty={<Empty icon={ActivityIcon} title={say('requests.emptyLive')} hint={say('requests.emptyLiveHint')} />}
      />
      <RequestDrawer record={open?.record} isLive onClose={() => setOpen(undefined)} />
    </>
  )
}

function State({ tail: { state, waiting }, isPaused }: { readonly tail: Tail; readonly isPaused: boolean }) {
  const text =
    state === 'lost'
      ? say('requests.lost')
      : state === 'connecting'
        ? say('requests.connecting')
        : isPaused
          ? say('requests.paused', { number: count(waiting) })
          : say('requests.connected')
  const color = state === 'lost' ? 'red' : isPaused || state === 'connecting' ? 'gray' : 'teal'
  return (
    <Badge
      variant="dot"
      color={color}
      size="lg"
      tt="none"
      role="status"
      styles={{ root: { height: 'auto', minHeight: 26 }, label: { whiteSpace: 'normal' } }}
    >
      {text}
    </Badge>
  )
}

/** How many are shown, and how many are not. */
function Counts({ tail: { rows, came, dropped } }: { readonly tail: Tail }) {
  const left = came - rows.length
  const texts = [say('requests.liveShown', { shown: count(rows.length), total: count(came) })]
  if (left > 0) texts.push(say('requests.liveLeft', { number: count(left), limit: count(MOST_ROWS) }))
  if (dropped > 0) texts.push(say('requests.liveDropped', { number: count(dropped) }))
  return (
    <Text size="sm" c="dimmed">
      {texts.join(' · ')}
    </Text>
  )
}
