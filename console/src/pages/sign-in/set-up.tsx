import { Alert, Button, Loader, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls/call.ts'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import { signIn } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import type { FormValues } from '../../parts/forms/form-values.ts'
import { PlainForm } from '../../parts/forms/plain-form.tsx'
import { say } from '../../texts/say.ts'
import { Card } from './card.tsx'

/** The page of the set-up link: makes the first organisation and its first administrator, and signs them in. */
export default function SetUp() {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '')
  const options = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions })
  if (options.isPending || options.isError)
    return (
      <Card title={say('start.setUpTitle')}>
        {options.isPending ? <Loader role="status" aria-label={say('part.loading')} mx="auto" /> : null}
        <FaultBox error={options.error} retry={() => void options.refetch()} />
      </Card>
    )
  if (!options.data.set_up_open || token === '') return <Closed isOpen={options.data.set_up_open} />
  return <SetUpForm token={token} />
}

function Closed({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <Card title={say('start.setUpTitle')}>
      <Alert color="yellow" title={say(isOpen ? 'start.linkBroken' : 'start.linkUsed')}>
        {say(isOpen ? 'start.linkBrokenHint' : 'start.linkUsedHint')}
      </Alert>
      <Button component={Link} to="/">
        {say('start.toSignIn')}
      </Button>
    </Card>
  )
}

function SetUpForm({ token }: { readonly token: string }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const enter = async ({ email, password }: FormValues) => {
    // The link is used up; nobody should find it in the history.
    window.history.replaceState(window.history.state, '', window.location.pathname)
    // A user who cannot be signed in at once signs in on the next page.
    await signIn(String(email).trim(), String(password)).catch(() => {})
    client.clear()
    await navigate({ to: '/', replace: true })
  }
  return (
    <Card title={say('start.setUpTitle')}>
      <Text size="sm" c="dimmed">
        {say('start.setUpHint')}
      </Text>
      <PlainForm
        fields={[
          {
            kind: 'text',
            name: 'organisation',
            label: say('start.organisation'),
            hint: say('start.organisationHint'),
            required: true,
            autoComplete: 'organization',
          },
          { kind: 'text', name: 'first_name', label: say('start.firstName'), autoComplete: 'given-name' },
          { kind: 'text', name: 'last_name', label: say('start.lastName'), autoComplete: 'family-name' },
          { kind: 'email', name: 'email', label: say('start.email'), required: true, autoComplete: 'username' },
          {
            kind: 'password',
            name: 'password',
            label: say('start.password'),
            required: true,
            autoComplete: 'new-password',
          },
        ]}
        initial={{ organisation: '', first_name: '', last_name: '', email: '', password: '' }}
        submit={async (values) => {
          await call('POST', '/api/bootstrap', { body: { ...values, token } })
          await enter(values)
        }}
        verb={say('start.setUpVerb')}
        wide
      />
    </Card>
  )
}
