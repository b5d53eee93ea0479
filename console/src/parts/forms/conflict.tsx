import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useCallback, useState } from 'react'
import { isOutdated, notingWrites, type Tag, underTag } from '../../api/calls/call.ts'
import { say } from '../../texts/say.ts'
import { DiffLines } from '../editors/diff-lines.tsx'
import { sortedText } from '../editors/line-diff.ts'
import { isSame } from './same.ts'

/** The user's choice after two had edited one object. */
export type Chosen = 'mine' | 'theirs' | 'editing'

interface Question {
  readonly mine: unknown
  readonly theirs: unknown
  readonly answer: (chosen: Chosen) => void
}

/** Thrown to keep the form as it is because the user continues editing. */
export class StillEditing extends Error {
  constructor() {
    super(say('conflict.editing'))
  }
}

/** A save that may meet the change of another. */
export interface GuardedSave<Thing> {
  /** As it was when editing began. */
  readonly loaded: Thing
  readonly mine: Thing
  /** As it is stored now; it begins with the call that reads it. */
  readonly read: () => Promise<Thing>
  /** Begins with the call that writes it. */
  readonly write: (thing: Thing) => Promise<unknown>
}

/** One that changes all the time is no longer a thing that people edit. */
const MOST_TRIES = 5

/**
 * Saves something that two people may edit. What is stored is read again first; where it is no longer what was loaded, the page
 * shows the difference and asks. The dashboard takes the save only where nothing has changed since that look; if it has, the page
 * looks again. `save` answers `saved` with the requests that wrote and the time of the click, or `theirs` with what is to be shown now.
 * Render `dialog` on the page. @throws StillEditing when the form is to stay; everything that `read` and `write` throw
 */
export function useGuardedSave(): {
  readonly save: <Thing>(
    what: GuardedSave<Thing>,
  ) => Promise<
    { outcome: 'saved'; requestIds: readonly string[]; clickedAtMs: number } | { outcome: 'theirs'; theirs: Thing }
  >
  readonly dialog: ReactNode
} {
  const [question, setQuestion] = useState<Question>()
  const save = useCallback(async <Thing,>({ loaded, mine, read, write }: GuardedSave<Thing>) => {
    const tag: Tag = new Map()
    let known = loaded
    let clickedAtMs = performance.now()
    for (let tries = 1; ; tries++) {
      const theirs = await underTag(tag, read)
      if (!isSame(theirs, known) && !isSame(theirs, mine)) {
        const chosen = await new Promise<Chosen>((answer) => setQuestion({ mine, theirs, answer }))
        setQuestion(undefined)
        if (chosen === 'editing') throw new StillEditing()
        if (chosen === 'theirs') return { outcome: 'theirs', theirs } as const
        // This much was seen, and may go.
        known = theirs
        clickedAtMs = performance.now()
      }
      try {
        const requestIds: string[] = []
        await underTag(tag, () => notingWrites(requestIds, () => write(mine)))
        return { outcome: 'saved', requestIds, clickedAtMs } as const
      } catch (error) {
        if (!isOutdated(error) || tries === MOST_TRIES) throw error
      }
    }
  }, [])
  return { save, dialog: question && <Asked {...question} /> }
}

function Asked({ mine, theirs, answer }: Question) {
  return (
    <Modal opened onClose={() => answer('editing')} title={say('conflict.title')} size="xl">
      <Stack>
        <Text size="sm">{say('conflict.hint')}</Text>
        <DiffLines label={say('conflict.difference')} before={sortedText(theirs)} after={sortedText(mine)} />
        <Text size="xs" c="dimmed">
          {say('conflict.signs')}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => answer('editing')} data-autofocus>
            {say('conflict.goOn')}
          </Button>
          <Button variant="light" onClick={() => answer('theirs')}>
            {say('conflict.theirs')}
          </Button>
          <Button color="red" onClick={() => answer('mine')}>
            {say('conflict.mine')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
