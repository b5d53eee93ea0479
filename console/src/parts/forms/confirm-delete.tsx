import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import { notifyDone } from '../display/notify.ts'

/** Asks for the name of what is to go, says what hangs on it, and shows the refusal if there is one. */
export function ConfirmDelete(props: {
  /** The text to type; undefined keeps the dialog closed. */
  readonly name: string | undefined
  /** The dependent objects that are deleted or stop working. */
  readonly depends?: ReactNode
  readonly verb?: string
  readonly run: () => Promise<unknown>
  readonly onDone: () => void
  readonly onClose: () => void
}) {
  const { name } = props
  return (
    <Modal opened={name !== undefined} onClose={props.onClose} title={say('part.deleteTitle', { name: name ?? '' })}>
      {name !== undefined && <Asked key={name} {...props} name={name} />}
    </Modal>
  )
}

type Props = Parameters<typeof ConfirmDelete>[0] & { readonly name: string }

function Asked({ name, depends, verb = say('part.delete'), run, onDone, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const deletion = useMutation({
    mutationFn: run,
    onSuccess: () => {
      notifyDone(say('part.deleted', { name }))
      onDone()
    },
  })
  // Keyboards write the same letters in different ways.
  const isSame = typed.normalize().trim() === name.normalize().trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isSame) deletion.mutate()
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {depends ?? say('part.deleteWhat')}
        </Text>
        <TextInput
          label={say('part.typeName', { name })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <FaultBox error={deletion.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {say('part.cancel')}
          </Button>
          <Button type="submit" color="red" disabled={!isSame} loading={deletion.isPending}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
