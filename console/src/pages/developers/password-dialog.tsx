import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { DEVELOPERS_KEY, type Developer, setDeveloperPassword } from '../../api/portal/developers.ts'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

/** Sets the password of a developer. */
export function PasswordDialog(props: {
  readonly developer: Developer
  readonly opened: boolean
  readonly onClose: () => void
}) {
  const { developer, onClose } = props
  const client = useQueryClient()
  return (
    <Modal opened={props.opened} onClose={onClose} title={say('portal.setPassword')}>
      <RecordForm
        fields={[
          {
            kind: 'password',
            name: 'password',
            label: say('portal.newPassword'),
            hint: say('portal.setPasswordHint'),
            required: true,
            autoComplete: 'new-password',
          },
        ]}
        initial={{ password: '' }}
        verb={say('portal.setPassword')}
        done={say('portal.passwordSet')}
        submit={({ password }) => setDeveloperPassword(developer.id, String(password))}
        onDone={() => {
          onClose()
          void client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
        }}
        onCancel={onClose}
      />
    </Modal>
  )
}
