import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { LABELS_KEY, type LabelView } from '../../api/apis/labels.ts'
import { changeLabel, createLabel } from '../../api/apis/labels-admin.ts'
import { type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const LONGEST = 128

/** Makes a label or changes its name and values. */
export function LabelForm(props: {
  /** undefined keeps the dialog closed. */
  readonly label: LabelView | 'new' | undefined
  readonly onClose: () => void
}) {
  const client = useQueryClient()
  const { label, onClose } = props
  if (label === undefined) return null
  const isNew = label === 'new'
  const save = ({ name, values }: FormValues) => {
    const body = { name: String(name).trim(), values: values as readonly string[] }
    return isNew ? createLabel(body) : changeLabel(label.id, body)
  }
  return (
    <Modal opened onClose={onClose} title={say(isNew ? 'labels.new' : 'labels.editTitle')}>
      <RecordForm
        fields={[
          {
            kind: 'text',
            name: 'name',
            label: say('labels.name'),
            hint: isNew ? say('labels.keyHint') : say('labels.nameHint'),
            required: true,
            check: (value) => (String(value).length > LONGEST ? say('part.tooLong', { most: LONGEST }) : undefined),
          },
          { kind: 'list', name: 'values', label: say('labels.values'), hint: say('labels.valuesHint') },
        ]}
        initial={isNew ? { name: '', values: [] } : { name: label.name, values: [...label.values] }}
        submit={save}
        onDone={() => {
          void client.invalidateQueries({ queryKey: LABELS_KEY })
          onClose()
        }}
        onCancel={onClose}
        verb={say(isNew ? 'part.create' : 'part.save')}
      />
    </Modal>
  )
}
