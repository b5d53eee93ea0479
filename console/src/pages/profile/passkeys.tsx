import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { PencilIcon, TrashIcon } from 'lucide-react'
import { useState } from 'react'
import { FACTOR_KEY, listPasskeys, PASSKEYS_KEY, type Passkey, removePasskey } from '../../api/people/profile.ts'
import { hasPasskeys } from '../../api/people/sign-in.ts'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { When } from '../../parts/display/when.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { AddPasskey, RenamePasskey } from './passkey-dialogs.tsx'
import { Section } from './section.tsx'
import { useProof } from './use-proof.tsx'

/** The own passkeys: added, renamed, removed. */
export function Passkeys() {
  const client = useQueryClient()
  const { proven, dialog } = useProof()
  const passkeys = useQuery({ queryKey: PASSKEYS_KEY, queryFn: listPasskeys })
  const [isAdding, setAdding] = useState(false)
  const [renamed, setRenamed] = useState<Passkey>()
  const [removed, setRemoved] = useState<Passkey>()
  const [codes, setCodes] = useState<readonly string[]>()
  const again = () => {
    void client.invalidateQueries({ queryKey: PASSKEYS_KEY })
    void client.invalidateQueries({ queryKey: FACTOR_KEY })
  }
  return (
    <Section title={say('profile.passkeys')} hint={say('profile.passkeysHint')}>
      {dialog}
      <DataTable
        label={say('profile.passkeys')}
        columns={columns(setRenamed, setRemoved)}
        rows={passkeys.data}
        rowKey={({ id }) => id}
        error={passkeys.error}
        retry={() => void passkeys.refetch()}
        empty={<Text size="sm">{say(hasPasskeys() ? 'profile.noPasskeys' : 'profile.passkeysClosed')}</Text>}
      />
      {hasPasskeys() && (
        <Group>
          <Button variant="default" onClick={() => setAdding(true)}>
            {say('profile.addPasskey')}
          </Button>
        </Group>
      )}
      <AddPasskey
        isOpen={isAdding}
        proven={proven}
        onClose={() => setAdding(false)}
        onDone={(made) => {
          setAdding(false)
          again()
          if (made.length > 0) setCodes(made)
        }}
      />
      <RenamePasskey passkey={renamed} onClose={() => setRenamed(undefined)} onDone={again} />
      <ConfirmDelete
        name={removed?.name}
        depends={say('profile.removePasskeyHint')}
        run={() => proven(() => removePasskey(removed!.id))}
        onDone={() => {
          setRemoved(undefined)
          again()
        }}
        onClose={() => setRemoved(undefined)}
      />
      <SecretOnce
        title={say('start.recoveryCodes')}
        secrets={codes && [{ name: say('start.recoveryCodesHint'), value: codes.join('\n') }]}
        onDone={() => setCodes(undefined)}
      />
    </Section>
  )
}

function columns(rename: (row: Passkey) => void, remove: (row: Passkey) => void): readonly Column<Passkey>[] {
  return [
    { name: 'name', title: say('profile.passkeyName'), cell: ({ name }) => <bdi>{name}</bdi> },
    {
      name: 'created',
      title: say('profile.created'),
      wideOnly: true,
      cell: ({ created_at }) => <When at={created_at} />,
    },
    { name: 'used', title: say('profile.lastUsed'), cell: ({ last_used }) => <When at={last_used} /> },
    {
      name: 'actions',
      title: say('part.actions'),
      width: 96,
      cell: (row) => (
        <Group gap={4} wrap="nowrap">
          <Action label={say('profile.renamePasskey', { name: row.name })} icon={PencilIcon} run={() => rename(row)} />
          <Action label={say('profile.removePasskey', { name: row.name })} icon={TrashIcon} run={() => remove(row)} />
        </Group>
      ),
    },
  ]
}

function Action(props: { readonly label: string; readonly icon: typeof PencilIcon; readonly run: () => void }) {
  const Sign = props.icon
  return (
    <Tooltip label={props.label}>
      <ActionIcon variant="subtle" color="gray" onClick={props.run} aria-label={props.label}>
        <Sign size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
