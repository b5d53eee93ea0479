import { SimpleGrid, Stack, Text } from '@mantine/core'
import { mayDo, useSession } from '../../api/people/session.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { say } from '../../texts/say.ts'
import { Attention } from './attention.tsx'
import { Failures } from './failures.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Today } from './today.tsx'

/** Home: the first steps of a new user, then the current state. */
export default function Home() {
  const session = useSession()
  const may = (permission: string) => mayDo(session, permission, 'read')
  const canStart = mayDo(session, 'apis', 'write')
  const hasAttention = may('portal') || may('system')
  const name = session.user.first_name
  return (
    <>
      <PageHead title={name === '' ? say('start.welcome') : say('start.welcomeName', { name })} />
      <Stack>
        {canStart && <FirstSteps />}
        {may('analytics') && <Today />}
        <SimpleGrid cols={{ base: 1, md: may('analytics') && hasAttention ? 2 : 1 }}>
          {may('analytics') && <Failures />}
          {hasAttention && <Attention />}
        </SimpleGrid>
        {!canStart && !may('analytics') && !hasAttention && <Text c="dimmed">{say('start.fromMenu')}</Text>}
      </Stack>
    </>
  )
}
