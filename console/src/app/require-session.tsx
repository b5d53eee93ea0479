import { Center, Container, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { CallError, onSessionEnd } from '../api/calls/call.ts'
import { readSession, SESSION_KEY } from '../api/people/session.ts'
import SignIn from '../pages/sign-in/sign-in.tsx'
import { FaultBox } from '../parts/display/fault-box.tsx'
import { say } from '../texts/say.ts'

const Shell = lazy(async () => ({ default: (await import('./shell.tsx')).Shell }))
const SignInAgain = lazy(() => import('../pages/sign-in/sign-in-again.tsx'))

/**
 * Lets through who is signed in and asks the others to. When a session ends later, the page stays as it is below a dialog: what was
 * typed is not lost.
 */
export function RequireSession() {
  const client = useQueryClient()
  const [isOver, setOver] = useState(false)
  const session = useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000, retry: false })
  const isIn = session.data !== undefined
  const isRefused = session.error instanceof CallError && session.error.status === 401

  useEffect(() => onSessionEnd(() => setOver(true)), [])

  if (session.isPending) return <Waiting />
  if (!isIn) {
    if (!isRefused)
      return (
        <Container py="xl">
          <FaultBox error={session.error} retry={() => void session.refetch()} />
        </Container>
      )
    return (
      <SignIn
        onDone={() => {
          setOver(false)
          void session.refetch()
        }}
      />
    )
  }
  return (
    <>
      <Suspense fallback={<Waiting />}>
        <Shell />
      </Suspense>
      {isOver && (
        <Suspense>
          <SignInAgain
            email={session.data.user.email_address}
            onDone={async () => {
              const { data } = await session.refetch()
              setOver(false)
              // Another person sees other things: nothing of the page below is theirs.
              if (data?.user.id !== session.data.user.id) return window.location.assign('/')
              await client.invalidateQueries()
            }}
          />
        </Suspense>
      )}
    </>
  )
}

function Waiting() {
  return (
    <Center mih="100vh">
      <Loader role="status" aria-label={say('part.loading')} />
    </Center>
  )
}
