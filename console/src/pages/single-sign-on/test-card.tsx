import { Alert, Button, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ExternalLinkIcon } from 'lucide-react'
import { useState } from 'react'
import { readSession, type Session, useSession } from '../../api/people/session.ts'
import type { IdentityProfile } from '../../api/people/single-sign-on.ts'
import { say } from '../../texts/say.ts'
import { rightsText } from '../users/rights.ts'
import { SideCard } from '../users/side-cards.tsx'
import { type Kind, signInPath } from './profile-values.ts'

const REASONS = [
  'identity.reasonSso',
  'identity.reasonPlace',
  'identity.reasonPrivate',
  'identity.reasonEmail',
  'identity.reasonGroup',
] as const
const LOOK_MS = 3000

/** Signs in by the profile in another tab, and says what came of it. */
export function TestCard({ profile, kind }: { readonly profile: IdentityProfile; readonly kind: Kind }) {
  const before = useSession()
  const [begunAs, setBegunAs] = useState<Session>()
  // The session of the browser is one for all tabs: who it belongs to tells what happened in the other.
  const now = useQuery({
    queryKey: ['sign-in-test', profile.ID],
    queryFn: readSession,
    enabled: begunAs !== undefined,
    refetchInterval: LOOK_MS,
    gcTime: 0,
    staleTime: 0,
  })
  const came = begunAs !== undefined && now.data !== undefined && isOther(begunAs, now.data) ? now.data : undefined
  return (
    <SideCard title={say('identity.test')} hint={say('identity.testHint')}>
      <Stack gap="sm">
        <Text size="xs">{say('identity.testSaveFirst')}</Text>
        <Button
          component="a"
          href={signInPath(profile.ID, kind)}
          target="_blank"
          rel="noopener"
          variant="light"
          leftSection={<ExternalLinkIcon size={16} aria-hidden />}
          onClick={() => setBegunAs(before)}
        >
          {say('identity.testOpen')}
        </Button>
        <div aria-live="polite">
          {came !== undefined && <CameIn session={came} />}
          {begunAs !== undefined && came === undefined && <NobodyYet />}
        </div>
      </Stack>
    </SideCard>
  )
}

/** A sign-in creates a new session with a new token, even for the same user. */
function isOther(before: Session, now: Session): boolean {
  return before.csrf_token !== now.csrf_token
}

function CameIn({ session: { user } }: { readonly session: Session }) {
  return (
    <Alert color="teal" title={say('identity.testWorked', { email: user.email_address })}>
      <Stack gap="xs">
        <Text size="sm">{say('identity.testRights', { rights: rightsText(user.permissions) })}</Text>
        <Text size="sm">{say('identity.testGoOn')}</Text>
        <Button size="xs" variant="light" onClick={() => window.location.reload()}>
          {say('identity.testReload')}
        </Button>
      </Stack>
    </Alert>
  )
}

function NobodyYet() {
  return (
    <Alert color="blue" title={say('identity.testWaiting')}>
      <Text size="sm">{say('identity.testSameHint')}</Text>
      <List size="sm" mt="xs">
        {REASONS.map((reason) => (
          <List.Item key={reason}>{say(reason)}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
