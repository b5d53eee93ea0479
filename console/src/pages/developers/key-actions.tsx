import { List, Menu, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { BanIcon, GaugeIcon, RefreshCwIcon, ShieldCheckIcon } from 'lucide-react'
import { useState } from 'react'
import {
  changeKeyPolicies,
  DEVELOPERS_KEY,
  type Developer,
  type DeveloperKey,
  type Rotated,
  resetKeyQuota,
  revokeDeveloperKey,
  rotateDeveloperKey,
} from '../../api/portal/developers.ts'
import { notifyDone, notifyFault } from '../../parts/display/notify.ts'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { POLICIES_FIELD, policiesField } from '../../parts/portal/policy-picker.tsx'
import { RowMenu } from '../../parts/portal/row-menu.tsx'
import { say } from '../../texts/say.ts'
import { GivenAccess } from './issued-access.tsx'
import { keyName } from './key-name.ts'
import { RotateDialog } from './rotate-dialog.tsx'

interface Props {
  readonly developer: Developer
  readonly entry: DeveloperKey
}

/** The actions on a key of a developer. */
export function KeyActions({ developer, entry }: Props) {
  const [asked, setAsked] = useState<'rotate' | 'policies' | 'revoke'>()
  const [rotated, setRotated] = useState<Rotated>()
  const client = useQueryClient()
  const close = () => setAsked(undefined)
  const changed = () => client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
  const resetting = useMutation({
    mutationFn: () => resetKeyQuota(developer.id, entry.key_id),
    onSuccess: () => {
      notifyDone(say('portal.quotaReset'))
      return changed()
    },
    onError: notifyFault,
  })
  const name = keyName(entry)
  return (
    <>
      <RowMenu name={name}>
        {entry.status !== 'rotated' && (
          <>
            <Menu.Item leftSection={<RefreshCwIcon size={16} aria-hidden />} onClick={() => setAsked('rotate')}>
              {say('portal.rotate')}
            </Menu.Item>
            <Menu.Item leftSection={<ShieldCheckIcon size={16} aria-hidden />} onClick={() => setAsked('policies')}>
              {say('portal.changePolicies')}
            </Menu.Item>
            <Menu.Item leftSection={<GaugeIcon size={16} aria-hidden />} onClick={() => resetting.mutate()}>
              {say('portal.resetQuota')}
            </Menu.Item>
          </>
        )}
        <Menu.Item color="red" leftSection={<BanIcon size={16} aria-hidden />} onClick={() => setAsked('revoke')}>
          {say('portal.revoke')}
        </Menu.Item>
      </RowMenu>
      <RotateDialog
        title={say('portal.rotateKey')}
        opened={asked === 'rotate'}
        rotate={async (overlapS) => {
          const answer = await rotateDeveloperKey(developer.id, entry.key_id, overlapS)
          close()
          setRotated(answer)
          await changed()
        }}
        onClose={close}
      />
      <GivenAccess access={rotated} onDone={() => setRotated(undefined)} />
      <PoliciesDialog
        developer={developer}
        entry={entry}
        opened={asked === 'policies'}
        onDone={changed}
        onClose={close}
      />
      <ConfirmDelete
        name={asked === 'revoke' ? name : undefined}
        verb={say('portal.revoke')}
        depends={<Depends entry={entry} />}
        run={() => revokeDeveloperKey(developer.id, entry.key_id)}
        onDone={() => {
          close()
          void changed()
        }}
        onClose={close}
      />
    </>
  )
}

function Depends({ entry }: { readonly entry: DeveloperKey }) {
  const nameOf = usePolicyNames(entry.policies)
  return (
    <Stack gap="xs">
      <Text size="sm">{say('portal.revokeHint')}</Text>
      <List size="sm">
        {entry.policies.map((id) => (
          <List.Item key={id} className="wrap-anywhere">
            {nameOf(id)}
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

function PoliciesDialog(
  props: Props & { readonly opened: boolean; readonly onDone: () => unknown; readonly onClose: () => void },
) {
  const { developer, entry, onClose } = props
  return (
    <Modal opened={props.opened} onClose={onClose} title={say('portal.changePolicies')}>
      <RecordForm
        fields={[policiesField(say('portal.changePoliciesHint'))]}
        initial={{ [POLICIES_FIELD]: entry.policies }}
        submit={({ policies }) => changeKeyPolicies(developer.id, entry.key_id, policies as readonly string[])}
        onDone={() => {
          onClose()
          void props.onDone()
        }}
        onCancel={onClose}
      />
    </Modal>
  )
}
