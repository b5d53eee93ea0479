import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'

/** A step away that waits for an answer, or none. */
export type Leaving =
  | { readonly status: 'idle' }
  | { readonly status: 'blocked'; readonly proceed: () => void; readonly reset: () => void }

/** Asks whether what was typed may be lost. */
export function LeaveQuestion({ leaving }: { readonly leaving: Leaving }) {
  if (leaving.status !== 'blocked') return null
  return (
    <Modal opened onClose={leaving.reset} title={say('part.unsaved')}>
      <Stack>
        <Text size="sm">{say('part.unsavedHint')}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={leaving.reset} data-autofocus>
            {say('part.stay')}
          </Button>
          <Button color="red" onClick={leaving.proceed}>
            {say('part.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
