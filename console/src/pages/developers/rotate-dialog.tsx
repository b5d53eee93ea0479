import { Modal } from '@mantine/core'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const OVERLAPS = [
  ['0', 'portal.overlapNone'],
  ['3600', 'portal.overlapHour'],
  ['86400', 'portal.overlapDay'],
  ['604800', 'portal.overlapWeek'],
] as const

/** Asks for how long the old key or secret is to work beside the new one. */
export function RotateDialog(props: {
  readonly title: string
  readonly opened: boolean
  readonly rotate: (overlapS: number) => Promise<unknown>
  readonly onClose: () => void
}) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <RecordForm
        fields={[
          {
            kind: 'choice',
            name: 'overlap',
            label: say('portal.overlap'),
            hint: say('portal.overlapHint'),
            choices: OVERLAPS.map(([value, text]) => ({ value, label: say(text) })),
          },
        ]}
        initial={{ overlap: '86400' }}
        verb={say('portal.rotate')}
        done=""
        submit={({ overlap }) => props.rotate(Number(overlap))}
        onCancel={props.onClose}
      />
    </Modal>
  )
}
