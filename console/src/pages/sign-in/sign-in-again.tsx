import { Modal, Stack, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Over a page whose session has ended: the page below keeps what was typed. */
export default function ReauthenticateDialog({
  email,
  onDone,
}: {
  readonly email: string
  readonly onDone: () => void
}) {
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={say('part.sessionEnded')}
    >
      <Stack>
        <Text size="sm">{say('part.sessionEndedHint')}</Text>
        <SignInForm email={email} stays onDone={onDone} />
      </Stack>
    </Modal>
  )
}
