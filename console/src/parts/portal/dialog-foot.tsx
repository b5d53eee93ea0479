import { Button, Group } from '@mantine/core'
import { say } from '../../texts/say.ts'

/** Buttons at the foot of a dialog. */
export function DialogFoot(props: {
  readonly verb: string
  readonly isPending: boolean
  readonly color?: string
  readonly run: () => void
  readonly onClose: () => void
}) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={props.onClose}>
        {say('part.cancel')}
      </Button>
      <Button loading={props.isPending} onClick={props.run} {...(props.color && { color: props.color })}>
        {props.verb}
      </Button>
    </Group>
  )
}
