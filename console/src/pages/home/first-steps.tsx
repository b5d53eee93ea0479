import { Button, Card, Group, Loader, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Session, useSession } from '../../api/people/session.ts'
import { FIRST_STEPS_KEY, type FirstSteps as Found, newKey, readFirstSteps } from '../../api/traffic/home.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { say } from '../../texts/say.ts'
import { AddApiStep, CallStep, KeyStep } from './steps.tsx'

const LOOK_MS = 3_000

/** The three steps of a new user, which complete themselves; gone when they are done or dismissed. */
export function FirstSteps() {
  const session = useSession()
  // A user who returns soon sees the previous data, and it is not read again at once.
  const known = useQueryClient().getQueryData<Found>(FIRST_STEPS_KEY)
  const [isDismissed, setDismissed] = useState(() => isHidden(session))
  // A user for whom everything was done before needs no list of it.
  const [wasOpen, setWasOpen] = useState(() => known !== undefined && !isDone(known))
  const [key] = useState(newKey)
  const [hadKey, setHadKey] = useState(known?.hasKey)
  const steps = useQuery({
    queryKey: FIRST_STEPS_KEY,
    queryFn: async ({ signal }) => {
      const found = await readFirstSteps(session, signal)
      if (!(found.api !== undefined && found.hasKey && found.hasCalled)) setWasOpen(true)
      setHadKey((before) => before ?? found.hasKey)
      return found
    },
    enabled: !isDismissed,
    refetchInterval: ({ state }) => (isDone(state.data) ? false : LOOK_MS),
  })
  if (isDismissed) return null
  if (steps.data === undefined)
    return steps.isPending ? <Loader size="sm" role="status" aria-label={say('part.loading')} /> : null
  const done = isDone(steps.data)
  if (done && !wasOpen) return null
  const dismiss = () => {
    hide(session)
    setDismissed(true)
  }
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="first-steps">
      <Group justify="space-between" align="flex-start" mb="md" wrap="nowrap">
        <Stack gap={2}>
          <Title order={2} size="h4" id="first-steps">
            {say(done ? 'start.stepsDone' : 'start.steps')}
          </Title>
          <Text size="sm" c="dimmed">
            {say(done ? 'start.stepsDoneHint' : 'start.stepsHint')}
          </Text>
        </Stack>
        <Button variant={done ? 'filled' : 'subtle'} size="xs" onClick={dismiss} flex="none">
          {say('start.dismiss')}
        </Button>
      </Group>
      <FaultBox error={steps.error} retry={() => void steps.refetch()} />
      <Stack gap="lg">
        <AddApiStep steps={steps.data} />
        <KeyStep steps={steps.data} newKey={key} />
        <CallStep steps={steps.data} knownKey={hadKey === true ? undefined : key} />
      </Stack>
    </Card>
  )
}

function isDone(steps: { readonly api?: unknown; readonly hasKey: boolean; readonly hasCalled: boolean } | undefined) {
  return steps?.api !== undefined && steps.hasKey && steps.hasCalled
}

const placeOf = ({ user }: Session) => `gatehouse.first-steps.${user.id}`

function isHidden(session: Session): boolean {
  return localStorage.getItem(placeOf(session)) === 'hidden'
}

function hide(session: Session): void {
  localStorage.setItem(placeOf(session), 'hidden')
}
