import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useId, useState } from 'react'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'
import { JsonDifference } from '../editors/json-difference.tsx'
import { Affected, type ReviewedObject } from './affected.tsx'
import type { WordedChange } from './changes-in-words.ts'

const MOST_CHANGES = 4

/** The changes that a save would make: in words, whom they affect, and as a difference. Shown as long as something is not saved. */
export function Review(props: {
  readonly changes: readonly WordedChange[]
  /** Called when the difference is opened. */
  readonly documents: () => { readonly before: unknown; readonly after: unknown }
  readonly object?: ReviewedObject | undefined
}) {
  const { changes, documents, object } = props
  const [isOpen, setOpen] = useState(false)
  const place = useId()
  return (
    <Stack gap={4} component="section" aria-label={say('review.title')}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <Text size="sm" component="div" flex="1 1 14rem" className="wrap-anywhere">
          <Text span fw={600} inherit>
            {say('review.title')}:
          </Text>{' '}
          <Words changes={changes} />
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={isOpen}
          aria-controls={place}
          onClick={() => setOpen(!isOpen)}
        >
          {say(isOpen ? 'review.hide' : 'review.show')}
        </Button>
      </Group>
      {object !== undefined && <Affected of={object} />}
      <Box id={place}>{isOpen && <JsonDifference label={say('review.difference')} {...documents()} />}</Box>
    </Stack>
  )
}

function Words({ changes }: { readonly changes: readonly WordedChange[] }) {
  const shown = changes.slice(0, MOST_CHANGES)
  const more = changes.length - shown.length
  return (
    <>
      {shown.map(({ label, values }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two members can have the same label, and the words keep no state
        <span key={index}>
          {index > 0 && ' · '}
          {values === undefined ? (
            <bdi>{label}</bdi>
          ) : (
            <>
              <bdi>{label}</bdi> <bdi>{values.before}</bdi> → <bdi>{values.after}</bdi>
            </>
          )}
        </span>
      ))}
      {more > 0 && ` · ${say('history.more', { count: count(more) })}`}
    </>
  )
}
