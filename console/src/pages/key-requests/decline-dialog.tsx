import { Anchor, Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type KeyRequest, removeKeyRequest } from '../../api/portal/key-requests.ts'
import { CopyBlock } from '../../parts/display/copy.tsx'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { DialogFoot } from '../../parts/portal/dialog-foot.tsx'
import { say } from '../../texts/say.ts'

interface Props {
  readonly request: KeyRequest
  readonly opened: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Declines a request; the reason is put into words to be sent, as the dashboard sends none by itself. */
export function DeclineDialog({ request, opened, onClose, onChanged }: Props) {
  const [reason, setReason] = useState('')
  const [isDeclined, setDeclined] = useState(false)
  const declining = useMutation({
    mutationFn: () => removeKeyRequest(request.id),
    onSuccess: () => (reason.trim() === '' ? onChanged() : setDeclined(true)),
  })
  const email = request.portal_developer.email
  return (
    <Modal opened={opened} onClose={isDeclined ? onChanged : onClose} title={say('portal.declineTitle')}>
      {isDeclined ? (
        <Tell email={email} reason={reason.trim()} onDone={onChanged} />
      ) : (
        <Stack>
          <Text size="sm">{say('portal.declineHint')}</Text>
          <Textarea
            label={say('portal.reason')}
            description={say('portal.reasonHint')}
            autosize
            minRows={3}
            maxLength={2000}
            dir="auto"
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            data-autofocus
          />
          <FaultBox error={declining.error} />
          <DialogFoot
            verb={say('portal.decline')}
            color="red"
            isPending={declining.isPending}
            run={() => declining.mutate()}
            onClose={onClose}
          />
        </Stack>
      )}
    </Modal>
  )
}

function Tell(props: { readonly email: string | undefined; readonly reason: string; readonly onDone: () => void }) {
  const { email, reason } = props
  const words = `subject=${encodeURIComponent(say('portal.declineSubject'))}&body=${encodeURIComponent(reason)}`
  return (
    <Stack>
      <Text size="sm">{say('portal.declined')}</Text>
      <CopyBlock value={reason} label={say('portal.reason')} />
      <Group justify="flex-end">
        {email !== undefined && (
          <Anchor href={`mailto:${encodeURIComponent(email)}?${words}`} size="sm">
            {say('portal.writeMail')}
          </Anchor>
        )}
        <Button onClick={props.onDone}>{say('part.close')}</Button>
      </Group>
    </Stack>
  )
}
