import { Box, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useIsAdministrator, useMay, useSession } from '../../api/people/session.ts'
import { renewCredential, setPassword, USERS_KEY, type User } from '../../api/people/users.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { When } from '../../parts/display/when.tsx'
import { ConfirmAction } from '../../parts/forms/confirm-action.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { nameOf } from './list.tsx'

/** A card beside the form. */
export function SideCard(props: { readonly title: string; readonly hint?: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="md" mb="md">
      <Title order={2} size="h5">
        {props.title}
      </Title>
      {props.hint !== undefined && (
        <Text size="xs" c="dimmed" mb="xs">
          {props.hint}
        </Text>
      )}
      {props.children}
    </Paper>
  )
}

/** The credential for the dashboard API: shown when asked for, and another one given. */
export function CredentialCard({ user }: { readonly user: User }) {
  const client = useQueryClient()
  const session = useSession()
  const mayWrite = useMay('users', 'write')
  const [shown, setShown] = useState(false)
  const [asked, setAsked] = useState(false)
  return (
    <SideCard title={say('users.credential')} hint={say('users.credentialHint')}>
      <Stack gap="xs">
        {user.access_key === '' && <Text size="sm">{say('users.credentialHidden')}</Text>}
        {shown && user.access_key !== '' && <CopyText value={user.access_key} />}
        <Group gap="xs">
          {user.access_key !== '' && (
            <Button size="xs" variant="default" aria-expanded={shown} onClick={() => setShown(!shown)}>
              {say(shown ? 'users.hide' : 'users.show')}
            </Button>
          )}
          {(mayWrite || session.user.id === user.id) && (
            <Button size="xs" variant="light" onClick={() => setAsked(true)}>
              {say('users.reset')}
            </Button>
          )}
        </Group>
      </Stack>
      <ConfirmAction
        opened={asked}
        title={say('users.resetTitle', { name: nameOf(user) })}
        verb={say('users.reset')}
        isGrave
        run={() => renewCredential(user.id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          setAsked(false)
          notifyDone(say('users.resetDone'))
          await client.invalidateQueries({ queryKey: USERS_KEY })
        }}
      >
        {say('users.resetText')}
      </ConfirmAction>
    </SideCard>
  )
}

/** Sets the password of another; whether that is allowed is the dashboard's to say. */
export function PasswordCard({ user }: { readonly user: User }) {
  const session = useSession()
  const isAdministrator = useIsAdministrator()
  const client = useQueryClient()
  const [open, setOpen] = useState(false)
  const [round, setRound] = useState(0)
  if (session.user.id === user.id)
    return <SideCard title={say('users.password')}>{<Text size="sm">{say('users.ownPassword')}</Text>}</SideCard>
  if (!isAdministrator) return null
  return (
    <SideCard title={say('users.password')} hint={say('users.setPasswordHint')}>
      {!open && (
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          {say('users.setPassword')}
        </Button>
      )}
      {open && (
        <RecordForm
          key={round}
          fields={[
            {
              name: 'password',
              label: say('users.newPassword'),
              hint: say('users.setPasswordNeeds'),
              kind: 'password',
              required: true,
              autoComplete: 'new-password',
            },
          ]}
          initial={{ password: '' }}
          verb={say('users.setPassword')}
          done={say('users.passwordSet')}
          submit={({ password }) => setPassword(user.id, String(password))}
          onCancel={() => setOpen(false)}
          onDone={async () => {
            setOpen(false)
            setRound(round + 1)
            await client.invalidateQueries({ queryKey: USERS_KEY })
          }}
        />
      )}
    </SideCard>
  )
}

/** The further details of a user. */
export function FactsCard({ user }: { readonly user: User }) {
  return (
    <SideCard title={say('users.about')}>
      <Stack gap="xs">
        <Fact name={say('users.lastLogin')}>
          <When at={user.last_login_date} />
        </Fact>
        <Fact name={say('users.passwordChanged')}>
          <When at={user.password_updated} />
        </Fact>
        <Fact name={say('users.created')}>
          <When at={user.created_at} />
        </Fact>
        <Fact name={say('users.id')}>
          <CopyText value={user.id} />
        </Fact>
      </Stack>
    </SideCard>
  )
}

/** A thing and what it is. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Box>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div" className="wrap-anywhere">
        {children}
      </Text>
    </Box>
  )
}
