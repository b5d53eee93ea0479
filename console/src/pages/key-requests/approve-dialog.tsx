import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import type { Access } from '../../api/portal/developers.ts'
import { approveKeyRequest, type KeyRequest } from '../../api/portal/key-requests.ts'
import { PORTAL_SETTINGS_KEY, readPortalSettings } from '../../api/portal/portal-settings.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { DialogFoot } from '../../parts/portal/dialog-foot.tsx'
import { PolicyBadges } from '../../parts/portal/policy-names.tsx'
import { say, type TextName } from '../../texts/say.ts'
import { GivenAccess } from '../developers/issued-access.tsx'
import { Answers, askedPolicies } from './request-answers.tsx'

interface Props {
  readonly request: KeyRequest
  readonly nameOf: (id: string) => string
  readonly opened: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Asks for confirmation with all details, approves, and shows the key once, or says how the developer gets it. */
export function ApproveDialog({ request, nameOf, opened, onClose, onChanged }: Props) {
  const [access, setAccess] = useState<Access>()
  const [collects, setCollects] = useState(false)
  const approval = useMutation({
    mutationFn: () => approveKeyRequest(request.id),
    onSuccess: (made) => {
      onClose()
      if (made === undefined) setCollects(true)
      else setAccess(made)
    },
  })
  const consequence = useConsequence(opened)
  // The list is read again only when the key was seen: its row, and this dialog with it, goes then.
  return (
    <>
      <Modal opened={opened} onClose={onClose} title={say('portal.approveTitle')}>
        <Stack>
          <Text size="sm" fw={600} className="wrap-anywhere" dir="auto">
            {request.portal_developer.email ?? say('portal.developerUnknown')}
          </Text>
          <PolicyBadges ids={askedPolicies(request)} nameOf={nameOf} />
          <Answers request={request} />
          <Text size="sm">{consequence === undefined ? '' : say(consequence)}</Text>
          <FaultBox error={approval.error} />
          <DialogFoot
            verb={say('portal.approve')}
            isPending={approval.isPending}
            run={() => approval.mutate()}
            onClose={onClose}
          />
        </Stack>
      </Modal>
      <GivenAccess
        access={access}
        onDone={() => {
          setAccess(undefined)
          onChanged()
        }}
      />
      <Modal opened={collects} onClose={onChanged} title={say('portal.approved')}>
        <Stack>
          <Text size="sm">{say('portal.collects', { email: request.portal_developer.email ?? '' })}</Text>
          <Group justify="flex-end">
            <Button onClick={onChanged} data-autofocus>
              {say('part.close')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

/** The effect of approving here. */
function useConsequence(enabled: boolean): TextName | undefined {
  const { data: settings } = useQuery({
    queryKey: PORTAL_SETTINGS_KEY,
    queryFn: ({ signal }) => readPortalSettings(signal),
    enabled,
  })
  const { data: options } = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions, enabled })
  if (settings === undefined || options === undefined) return undefined
  if (settings.secure_key_approval) return options.mail_configured ? 'portal.approveCollect' : 'portal.approveNoMail'
  const isMailed = options.mail_configured && settings.mail_options.email_copy.key_email.enabled
  return isMailed ? 'portal.approveMail' : 'portal.approveTell'
}
