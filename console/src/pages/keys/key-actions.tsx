import { Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { PencilIcon, PowerIcon, RefreshCwIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { deleteKey, KEYS_KEY, type KeyDetails, type KeySession, readKey, saveKey } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { notifyDone } from '../../parts/display/notify.ts'
import { ConfirmAction } from '../../parts/forms/confirm-action.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { nameOfKey } from './key-labels.ts'
import { isOfCertificate } from './key-proofs.ts'
import { RotateKey } from './rotate-key.tsx'

/** The actions on a key, for users who may write keys. */
export function KeyActions({ details, onEdit }: { readonly details: KeyDetails; readonly onEdit: () => void }) {
  const [asked, setAsked] = useState<'rotate' | 'switch' | 'delete'>()
  const mayWrite = useMay('keys', 'write')
  const client = useQueryClient()
  const navigate = useNavigate()
  const close = () => setAsked(undefined)
  const refresh = () => client.invalidateQueries({ queryKey: KEYS_KEY })
  if (!mayWrite) return null
  const { key_hash: hash, own, data, facts } = details
  const isOff = own.is_inactive === true
  const isFormer = facts.status === 'rotated'
  const reasons = {
    edit: isFormer ? say('keys.rotatedEdit') : undefined,
    rotate: isFormer ? say('keys.rotatedEdit') : unrotated(own),
    switch: isFormer ? say('keys.rotatedEdit') : data.is_inactive && !isOff ? say('keys.byPolicyOff') : undefined,
  }
  return (
    <Group gap="xs">
      <GuardedButton
        permission="keys"
        leftSection={<PencilIcon size={16} aria-hidden />}
        onClick={onEdit}
        {...because(reasons.edit)}
      >
        {say('keys.edit')}
      </GuardedButton>
      <GuardedButton
        permission="keys"
        variant="default"
        leftSection={<RefreshCwIcon size={16} aria-hidden />}
        onClick={() => setAsked('rotate')}
        {...because(reasons.rotate)}
      >
        {say('keys.rotate')}
      </GuardedButton>
      <GuardedButton
        permission="keys"
        variant="default"
        leftSection={<PowerIcon size={16} aria-hidden />}
        onClick={() => setAsked('switch')}
        {...because(reasons.switch)}
      >
        {say(isOff ? 'keys.switchOn' : 'keys.switchOff')}
      </GuardedButton>
      <Button
        variant="default"
        c="red"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked('delete')}
      >
        {say('keys.delete')}
      </Button>
      <RotateKey details={details} opened={asked === 'rotate'} onClose={close} />
      <ConfirmAction
        opened={asked === 'switch'}
        title={say(isOff ? 'keys.switchOn' : 'keys.switchOffTitle')}
        verb={say(isOff ? 'keys.switchOn' : 'keys.switchOff')}
        isGrave={!isOff}
        // Read again, so that only this one member changes, with edits of others kept.
        run={async () => saveKey(hash, { ...(await readKey(hash)).own, is_inactive: !isOff })}
        onDone={() => {
          notifyDone(say(isOff ? 'keys.switchedOn' : 'keys.switchedOff'))
          close()
          void refresh()
        }}
        onClose={close}
      >
        {isOff ? nameOfKey(details) : say('keys.switchOffHint')}
      </ConfirmAction>
      <ConfirmDelete
        name={asked === 'delete' ? nameOfKey(details) : undefined}
        depends={say('keys.deleteHint')}
        run={() => deleteKey(hash)}
        onDone={() => {
          client.removeQueries({ queryKey: [...KEYS_KEY, 'one', hash] })
          void client.invalidateQueries({ queryKey: [...KEYS_KEY, 'list'] })
          void navigate({ to: '/keys', replace: true })
        }}
        onClose={close}
      />
    </Group>
  )
}

/** Why a session has no key that can be rotated. */
function unrotated(own: KeySession): string | undefined {
  if (own.user_name !== undefined) return say('keys.userRotate')
  return isOfCertificate(own) ? say('keys.certificateRotate') : undefined
}

function because(reason: string | undefined): { reason?: string } {
  return reason === undefined ? {} : { reason }
}
