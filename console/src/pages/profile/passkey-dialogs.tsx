import { Modal } from '@mantine/core'
import { addPasskey, type Passkey, passkeyOptions, renamePasskey } from '../../api/people/profile.ts'
import { makePasskey } from '../../api/people/sign-in.ts'
import { notifyDone } from '../../parts/display/notify.ts'
import { type Field, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

const LONGEST = 100

const NAME: Field = {
  kind: 'text',
  name: 'name',
  label: say('profile.passkeyName'),
  hint: say('profile.passkeyNameHint'),
  required: true,
  check: (value) => (String(value).length > LONGEST ? say('part.tooLong', { most: LONGEST }) : undefined),
}

/** Has the browser make a passkey and registers it under a name. */
export function AddPasskey(props: {
  readonly isOpen: boolean
  readonly proven: <Answer>(run: () => Promise<Answer>) => Promise<Answer>
  readonly onClose: () => void
  /** With the recovery codes, where it is the first second factor. */
  readonly onDone: (codes: readonly string[]) => void
}) {
  const { proven } = props
  return (
    <Modal opened={props.isOpen} onClose={props.onClose} title={say('profile.addPasskey')}>
      <RecordForm
        fields={[NAME]}
        initial={{ name: '' }}
        submit={async ({ name }) => {
          const made = await makePasskey(await proven(passkeyOptions))
          const codes = await proven(() => addPasskey(String(name).trim(), made))
          notifyDone(say('profile.passkeyAdded', { name: String(name).trim() }))
          return codes
        }}
        onDone={(codes) => props.onDone(codes as readonly string[])}
        onCancel={props.onClose}
        verb={say('profile.addPasskey')}
        done=""
      />
    </Modal>
  )
}

/** Gives a passkey another name. */
export function RenamePasskey(props: {
  readonly passkey: Passkey | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { passkey } = props
  if (passkey === undefined) return null
  return (
    <Modal opened onClose={props.onClose} title={say('profile.renamePasskey', { name: passkey.name })}>
      <RecordForm
        fields={[NAME]}
        initial={{ name: passkey.name }}
        submit={({ name }) => renamePasskey(passkey.id, String(name).trim())}
        onDone={() => {
          props.onDone()
          props.onClose()
        }}
        onCancel={props.onClose}
      />
    </Modal>
  )
}
