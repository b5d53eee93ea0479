import { Modal, Stack, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { RecordForm } from './record-form.tsx'

const OVERLAPS = ['0', '3600', '86400', '604800'] as const

/** Asks for how long an old secret is to be good beside the new one; without a choice it ends at once. */
export function OverlapDialog(props: {
  readonly title: string
  readonly hint: string
  readonly opened: boolean
  readonly hasChoice: boolean
  readonly rotate: (overlapS: number) => Promise<unknown>
  readonly onClose: () => void
}) {
  const { hasChoice } = props
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Stack>
        <Text size="sm">{props.hint}</Text>
        <RecordForm
          fields={
            hasChoice
              ? [
                  {
                    kind: 'choice',
                    name: 'overlap',
                    label: say('keys.overlap'),
                    hint: say('keys.overlapHint'),
                    choices: OVERLAPS.map((value) => ({ value, label: say(`keys.overlap.${value}`) })),
                  },
                ]
              : []
          }
          initial={{ overlap: hasChoice ? '86400' : '0' }}
          verb={say('keys.rotate')}
          done=""
          submit={({ overlap }) => props.rotate(Number(overlap))}
          onCancel={props.onClose}
        />
      </Stack>
    </Modal>
  )
}
