import { Flex, Group, Menu, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { DEVELOPERS_KEY } from '../../api/portal/developers.ts'
import { KEY_REQUESTS_KEY, type KeyRequest, removeKeyRequest } from '../../api/portal/key-requests.ts'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { RowMenu } from '../../parts/portal/row-menu.tsx'
import { StateDot } from '../../parts/portal/state.tsx'
import { say } from '../../texts/say.ts'
import { ApproveDialog } from './approve-dialog.tsx'
import { DeclineDialog } from './decline-dialog.tsx'

interface Props {
  readonly request: KeyRequest
  readonly nameOf: (id: string) => string
}

/** Approve or decline; what is approved can only be forgotten. */
export function RequestDecision({ request, nameOf }: Props) {
  const [asked, setAsked] = useState<'approve' | 'decline' | 'forget'>()
  const client = useQueryClient()
  const close = () => setAsked(undefined)
  const changed = () => {
    void client.invalidateQueries({ queryKey: KEY_REQUESTS_KEY })
    void client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
  }
  const who = request.portal_developer.email ?? request.by_user
  if (request.approved)
    return (
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <StateDot colour="green" text={say('portal.approved')} />
        <RowMenu name={who}>
          <Menu.Item leftSection={<Trash2Icon size={16} aria-hidden />} onClick={() => setAsked('forget')}>
            {say('portal.forget')}
          </Menu.Item>
        </RowMenu>
        <ConfirmDelete
          name={asked === 'forget' ? who : undefined}
          verb={say('portal.forget')}
          depends={<Text size="sm">{say('portal.forgetHint')}</Text>}
          run={() => removeKeyRequest(request.id)}
          onDone={() => {
            close()
            changed()
          }}
          onClose={close}
        />
      </Group>
    )
  return (
    <Flex gap="xs" direction={{ base: 'column', sm: 'row' }}>
      <GuardedButton permission="portal" size="xs" onClick={() => setAsked('approve')}>
        {say('portal.approve')}
      </GuardedButton>
      <GuardedButton permission="portal" size="xs" variant="default" onClick={() => setAsked('decline')}>
        {say('portal.decline')}
      </GuardedButton>
      <ApproveDialog
        request={request}
        nameOf={nameOf}
        opened={asked === 'approve'}
        onClose={close}
        onChanged={changed}
      />
      <DeclineDialog request={request} opened={asked === 'decline'} onClose={close} onChanged={changed} />
    </Flex>
  )
}
