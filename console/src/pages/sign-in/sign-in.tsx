import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import { say } from '../../texts/say.ts'
import { Card } from './card.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Where everybody who is not signed in ends up, whatever address they opened. */
export default function SignIn({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate()
  const { data: options } = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions })
  // The ticket stays in no history. Not before the page stands: the router draws anew for it.
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
 * What single sign-on left in the address: `/#sign_in=<ticket>&to=<path>` for somebody who has a second factor here, `?error=...`
 * for somebody who was refused. Read once, when the page is first needed.
 */
const arrival = arrivalIn(window.location)

function arrivalIn({ hash, search }: Location) {
  const left = new URLSearchParams(hash.slice(1))
  const ticket = left.get('sign_in') ?? ''
  const to = left.get('to') ?? ''
  // A path of our own and nothing else: `//host` and `/\host` lead elsewhere.
  const isOwn = /^\/(?![/\\])/.test(to)
  return { ticket, to: ticket !== '' && isOwn ? to : '', isRefused: new URLSearchParams(search).has('error') }
}
