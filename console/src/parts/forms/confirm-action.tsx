import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'

/** Asks before something is done that is no deletion, and shows the refusal if there is one. */
export function ConfirmAction<Answer>(props: {
  readonly opened: boolean
  readonly title: string
  readonly children: ReactNode
  readonly verb: string
  readonly isGrave?: boolean
  readonly run: () => Promise<Answer>
  readonly onDone: (answer: Answer) => void
  readonly onClose: () => void
}) {
  const doing = useMutation({ mutationFn: props.run, onSuccess: props.onDone })
  const close = () => {
    doing.reset()
    props.onClose()
  }
  return (
    <Modal opened={props.opened} onClose={close} title={props.title}>
      <Stack>
        <Text size="sm" component="div">
          {props.children}
        </Text>
        <FaultBox error={doing.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {say('part.cancel')}
          </Button>
          <Button
            {...(props.isGrave && { color: 'red' })}
            loading={doing.isPending}
            onClick={() => doing.mutate()}
            data-autofocus
          >
            {props.verb}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
