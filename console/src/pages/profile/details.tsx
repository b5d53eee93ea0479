import { Alert, SimpleGrid, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ME_KEY, type Me, saveNames } from '../../api/people/profile.ts'
import { SESSION_KEY, useMay, useSession } from '../../api/people/session.ts'
import { When } from '../../parts/display/when.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { Section } from './section.tsx'

/** Names, and what the account is. */
export function Details({ me, isGuest }: { readonly me: Me; readonly isGuest: boolean }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {!isGuest && <Names me={me} />}
      <Account me={me} />
    </SimpleGrid>
  )
}

function Names({ me }: { readonly me: Me }) {
  const client = useQueryClient()
  const may = useMay('users', 'write')
  const { first_name, last_name } = me
  return (
    <Section title={say('profile.names')}>
      {!may && <Alert variant="light">{say('profile.namesLocked')}</Alert>}
      <RecordForm
        fields={[
          { kind: 'text', name: 'first_name', label: say('profile.firstName'), autoComplete: 'given-name' },
          { kind: 'text', name: 'last_name', label: say('profile.lastName'), autoComplete: 'family-name' },
        ]}
        initial={{ first_name, last_name }}
        readOnly={!may}
        guarded
        submit={(names) => saveNames(me.id, names as { first_name: string; last_name: string })}
        onDone={() => {
          void client.invalidateQueries({ queryKey: ME_KEY })
          void client.invalidateQueries({ queryKey: SESSION_KEY })
        }}
      />
    </Section>
  )
}

function Account({ me }: { readonly me: Me }) {
  const { user, organisation, unbounded } = useSession()
  const home = unbounded ? undefined : organisation?.name
  const rows = [
    [say('profile.email'), me.email_address],
    [say('profile.organisation'), home ?? say('profile.everywhere')],
    [say('profile.group'), me.group_name || say('profile.noGroup')],
    [say('profile.rights'), rightsOf(user)],
  ]
  return (
    <Section title={say('profile.account')}>
      <dl className="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="sm" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm" className="wrap-anywhere" dir="auto">
              {value}
            </Text>
          </div>
        ))}
        <div>
          <Text component="dt" size="sm" c="dimmed">
            {say('profile.member')}
          </Text>
          <Text component="dd" size="sm">
            <When at={me.created_at} />
          </Text>
        </div>
      </dl>
    </Section>
  )
}

function rightsOf({ is_admin, permissions }: ReturnType<typeof useSession>['user']): string {
  const denied = Object.keys(permissions).filter((name) => permissions[name] === 'deny')
  if (is_admin)
    return denied.length === 0 ? say('profile.admin') : say('profile.adminBut', { names: denied.join(', ') })
  return Object.entries(permissions)
    .filter(([, value]) => value === 'read' || value === 'write')
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}
