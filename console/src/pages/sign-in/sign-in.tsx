import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import { say } from '../../texts/say.ts'
import { Card } from './card.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** The page for everyone who is not signed in, at any address. */
export default function SignIn({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate()
  const { data: options } = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions })
  // The ticket stays in no history. Not before the page is mounted: the router would render again for it.
  useEffect(() => {
    const { pathname, search } = window.location
    if (arrival.ticket !== '') window.history.replaceState(window.history.state, '', pathname + search)
  }, [])
  return (
    <Card title={say('start.signInTitle')}>
      {options?.set_up_open === true && (
        <Alert color="yellow" title={say('start.notSetUp')}>
          {say('start.notSetUpHint')}
        </Alert>
      )}
      {arrival.isRefused && (
        <Alert color="red" title={say('start.ssoRefused')} role="alert">
          {say('start.ssoRefusedHint')}
        </Alert>
      )}
      <SignInForm
        ticket={arrival.ticket}
        onDone={() => {
          onDone()
          if (arrival.to !== '') void navigate({ href: arrival.to, replace: true })
        }}
      />
    </Card>
  )
}

/**
 * The result of single sign-on in the address: `/#sign_in=<ticket>&to=<path>` for a user with a second factor here, `?error=...`
 * for a refused user. Read once, when the page is first needed.
 */
const arrival = arrivalIn(window.location)

function arrivalIn({ hash, search }: Location) {
  const left = new URLSearchParams(hash.slice(1))
  const ticket = left.get('sign_in') ?? ''
  const to = left.get('to') ?? ''
  // A local path only: `//host` and `/\host` lead elsewhere.
  const isOwn = /^\/(?![/\\])/.test(to)
  return { ticket, to: ticket !== '' && isOwn ? to : '', isRefused: new URLSearchParams(search).has('error') }
}
