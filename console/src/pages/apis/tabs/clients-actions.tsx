import { Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { EyeIcon, PencilIcon, RefreshCwIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { CLIENTS_KEY, deleteClient, type OAuthClient, rotateClient } from '../../../api/access/clients.ts'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { SecretOnce } from '../../../parts/display/secret-once.tsx'
import { fullTime } from '../../../parts/display/when.tsx'
import { ConfirmDelete } from '../../../parts/forms/confirm-delete.tsx'
import { GuardedButton } from '../../../parts/forms/guarded.tsx'
import { OverlapDialog } from '../../../parts/forms/overlap-dialog.tsx'
import { say } from '../../../texts/say.ts'
import { needsSecret } from './clients-fields.ts'

interface Shown {
  readonly title: string
  readonly secret: string
  /** Until when the old one works; '' = it does not any more. */
  readonly until?: string
  readonly isKept?: boolean
}

/** The actions on a client, for users who may write clients. */
export function ClientActions(props: {
  readonly api: ApiView
  readonly client: OAuthClient
  readonly onEdit: () => void
  readonly onGone: () => void
}) {
  const { api, client } = props
  const [asked, setAsked] = useState<'rotate' | 'delete'>()
  const [shown, setShown] = useState<Shown>()
  const cache = useQueryClient()
  const close = () => setAsked(undefined)
  if (!useMay('oauth', 'write')) return null
  const name = client.client_name || client.client_id
  return (
    <Group gap="xs">
      <Button leftSection={<PencilIcon size={16} aria-hidden />} onClick={props.onEdit}>
        {say('clients.edit')}
      </Button>
      {client.secret !== '' && (
        <Button
          variant="default"
          leftSection={<EyeIcon size={16} aria-hidden />}
          onClick={() => setShown({ title: say('clients.secretNow', { name }), secret: client.secret, isKept: true })}
        >
          {say('clients.showSecret')}
        </Button>
      )}
      <GuardedButton
        permission="oauth"
        variant="default"
        leftSection={<RefreshCwIcon size={16} aria-hidden />}
        onClick={() => setAsked('rotate')}
        {...(!needsSecret(client) && { reason: say('clients.noSecret') })}
      >
        {say('clients.rotate')}
      </GuardedButton>
      <Button
        variant="default"
        c="red"
        leftSection={<Trash2Icon size={16} aria-hidden />}
        onClick={() => setAsked('delete')}
      >
        {say('clients.delete')}
      </Button>
      <OverlapDialog
        title={say('clients.rotateTitle')}
        hint={say('clients.rotateHint')}
        opened={asked === 'rotate'}
        hasChoice
        rotate={async (overlapS) => {
          const { secret, valid_until: until } = await rotateClient(api.id, client.client_id, overlapS)
          close()
          setShown({ title: say('clients.rotated'), secret, until })
          await cache.invalidateQueries({ queryKey: CLIENTS_KEY })
        }}
        onClose={close}
      />
      <SecretOnce
        title={shown?.title ?? ''}
        isKept={shown?.isKept === true}
        secrets={shown && [{ name: say('clients.secret'), value: shown.secret }]}
        onDone={() => setShown(undefined)}
      >
        {shown?.until && say('keys.oldWorksUntil', { time: fullTime(shown.until) })}
      </SecretOnce>
      <ConfirmDelete
        name={asked === 'delete' ? name : undefined}
        depends={say('clients.deleteHint')}
        run={() => deleteClient(api.id, client.client_id)}
        onDone={() => {
          cache.removeQueries({ queryKey: [...CLIENTS_KEY, api.id, 'one', client.client_id] })
          void cache.invalidateQueries({ queryKey: [...CLIENTS_KEY, api.id, 'list'] })
          props.onGone()
        }}
        onClose={close}
      />
    </Group>
  )
}
