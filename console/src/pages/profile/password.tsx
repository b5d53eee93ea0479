import { Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keepCsrf } from '../../api/calls/call.ts'
import { changePassword, type Me } from '../../api/people/profile.ts'
import { signIn } from '../../api/people/sign-in.ts'
import { notifyDone } from '../../parts/display/notify.ts'
import { When } from '../../parts/display/when.tsx'
import { type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { Section } from './section.tsx'

/** Changes the user's password, which ends all sessions; this one is reopened at once where the password alone is enough. */
export function Password({ me }: { readonly me: Me }) {
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const comeBack = async (password: string) => {
    const step = await signIn(me.email_address, password).catch(() => undefined)
    if (step === undefined || 'needs' in step) return window.location.reload()
    keepCsrf(step.csrf_token)
    setOpen(false)
    notifyDone(say('profile.passwordDone'))
    await client.invalidateQueries()
  }
  return (
    <Section title={say('profile.password')} hint={<Since at={me.password_updated} />}>
      {isOpen ? (
        <RecordForm
          fields={[
            {
              kind: 'password',
              name: 'current',
              label: say('profile.current'),
              required: true,
              autoComplete: 'current-password',
            },
            { kind: 'password', name: 'next', label: say('profile.new'), required: true, autoComplete: 'new-password' },
            {
              kind: 'password',
              name: 'again',
              label: say('profile.again'),
              required: true,
              autoComplete: 'new-password',
              check: (value, all) => (value === all.next ? undefined : say('profile.different')),
            },
          ]}
          initial={{ current: '', next: '', again: '' }}
          submit={async ({ current, next }: FormValues) => {
            await changePassword(me.id, String(current), String(next))
            await comeBack(String(next))
          }}
          onCancel={() => setOpen(false)}
          verb={say('profile.changePassword')}
          done=""
        />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setOpen(true)}>
            {say('profile.changePassword')}
          </Button>
        </Group>
      )}
    </Section>
  )
}

function Since({ at }: { readonly at: string }) {
  const [before = '', after = ''] = say('profile.passwordHint').split('{when}')
  return (
    <>
      {before}
      <When at={at} />
      {after}
    </>
  )
}
