import { Alert, Button, Modal, Stack, Text } from '@mantine/core'
import { EyeOffIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { say } from '../../texts/say.ts'
import { CopyBlock } from './copy.tsx'

/** Secrets that are mostly seen this one time: the dialog goes only by saying that they are copied. */
export function SecretOnce(props: {
  readonly title: string
  /** The name and value of the secret; undefined keeps the dialog closed. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[] | undefined
  /** They can be shown again. */
  readonly isKept?: boolean
  readonly children?: ReactNode
  readonly onDone: () => void
}) {
  return (
    <Modal
      opened={props.secrets !== undefined}
      onClose={props.onDone}
      title={props.title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        {!props.isKept && (
          <Alert icon={<EyeOffIcon aria-hidden />} color="yellow">
            {say('part.shownOnce')}
          </Alert>
        )}
        {props.secrets?.map(({ name, value }) => (
          <div key={name}>
            <Text size="sm" fw={600} mb={4}>
              {name}
            </Text>
            <CopyBlock value={value} label={name} />
          </div>
        ))}
        {props.children}
        <Button onClick={props.onDone} data-autofocus>
          {say(props.isKept ? 'part.close' : 'part.done')}
        </Button>
      </Stack>
    </Modal>
  )
}
