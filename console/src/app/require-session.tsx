import { Center, Container, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { CallError, onSessionEnd } from '../api/calls/call.ts'
import { readSession, SESSION_KEY } from '../api/people/session.ts'
import { FaultBox } from '../parts/display/fault-box.tsx'
import { say } from '../texts/say.ts'
import { Shell } from './shell.tsx'

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
  // No `lazy`: after a placeholder React shows nothing else for 300 ms, and this is the first page that people see.
  const page = useQuery({
    queryKey: ['sign-in page'],
    queryFn: async () => (await import('../pages/sign-in/sign-in.tsx')).default,
    enabled: isRefused,
    staleTime: Number.POSITIVE_INFINITY,
  })

  useEffect(() => onSessionEnd(() => setOver(true)), [])

  if (session.isPending) return <Waiting />
  if (!isIn) {
    const missing = isRefused ? page : session
    if (missing.isError)
      return (
        <Container py="xl">
          <FaultBox error={missing.error} retry={() => void missing.refetch()} />
        </Container>
      )
    const SignIn = page.data
    if (SignIn === undefined) return <Waiting />
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
      <Shell />
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
