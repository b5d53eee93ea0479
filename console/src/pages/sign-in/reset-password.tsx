import { Alert, Anchor, Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls/call.ts'
import { PlainForm } from '../../parts/forms/plain-form.tsx'
import { say } from '../../texts/say.ts'
import { Card } from './card.tsx'

/** Sets a new password with the link of a mail. The token is in the fragment, which no server is sent. */
export default function ResetPassword() {
  const [token] = useState(() => window.location.hash.slice(1))
  const [isDone, setDone] = useState(false)
  if (token === '')
    return (
      <Card title={say('start.resetTitle')}>
        <Alert color="yellow" title={say('start.linkBroken')}>
          {say('start.resetBrokenHint')}
        </Alert>
        <Button component={Link} to="/forgotten-password">
          {say('start.sendLink')}
        </Button>
      </Card>
    )
  if (isDone)
    return (
      <Card title={say('start.resetTitle')}>
        <Text role="status">{say('start.resetDone')}</Text>
        <Button component={Link} to="/">
          {say('start.toSignIn')}
        </Button>
      </Card>
    )
  return (
    <Card title={say('start.resetTitle')}>
      <PlainForm
        fields={[
          {
            kind: 'password',
            name: 'new_password',
            label: say('start.newPassword'),
            required: true,
            autoComplete: 'new-password',
          },
        ]}
        initial={{ new_password: '' }}
        submit={({ new_password }) => call('POST', '/api/password/reset', { body: { token, new_password } })}
        onDone={() => {
          // The link is used up; nobody should find it in the history.
          window.history.replaceState(window.history.state, '', window.location.pathname)
          setDone(true)
        }}
        verb={say('start.setPassword')}
        wide
      />
      <Anchor component={Link} to="/" size="sm">
        {say('start.toSignIn')}
      </Anchor>
    </Card>
  )
}
