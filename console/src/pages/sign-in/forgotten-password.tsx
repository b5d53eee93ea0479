import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Envelope } from '../../api/calls/call.ts'
import { PlainForm } from '../../parts/forms/plain-form.tsx'
import { say } from '../../texts/say.ts'
import { Card } from './card.tsx'

/** Asks for a mail with a link. The answer is the same for every address. */
export default function ForgottenPassword() {
  const [answer, setAnswer] = useState<string>()
  return (
    <Card title={say('start.forgottenTitle')}>
      {answer === undefined ? (
        <PlainForm
          fields={[
            { kind: 'email', name: 'email', label: say('start.email'), required: true, autoComplete: 'username' },
          ]}
          initial={{ email: '' }}
          submit={(body) => call<Envelope>('POST', '/api/password/forgot', { body })}
          onDone={(said) => setAnswer((said as Envelope).Message)}
          verb={say('start.sendLink')}
          wide
        />
      ) : (
        <Text role="status">{answer}</Text>
      )}
      <Anchor component={Link} to="/" size="sm">
        {say('start.toSignIn')}
      </Anchor>
    </Card>
  )
}
