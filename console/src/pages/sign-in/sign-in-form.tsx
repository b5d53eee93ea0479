import { Anchor, Loader, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import { continueSignIn, type SignInNeeds, type SignInStep, signIn } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PlainForm } from '../../parts/forms/plain-form.tsx'
import { say } from '../../texts/say.ts'
import { OtherMethods } from './other-methods.tsx'

// Later steps of a sign-in, which few need: the first page does not wait for them.
const SecretOnce = lazy(async () => ({ default: (await import('../../parts/display/secret-once.tsx')).SecretOnce }))
const SignInNeed = lazy(async () => ({ default: (await import('./sign-in-steps.tsx')).SignInNeed }))

interface Props {
  readonly email?: string
  /** Of a sign-in that was begun elsewhere; '' = none. */
  readonly ticket?: string
  /** True where the page must stay: single sign-on opens in another tab. */
  readonly stays?: boolean
  readonly onDone: () => void
}

/** Signing in, by any of the ways that the installation has, until it is done. */
export function SignInForm({ email = '', ticket = '', stays = false, onDone }: Props) {
  const [step, setStep] = useState<SignInNeeds>()
  const [codes, setCodes] = useState<readonly string[]>()
  const [lapse, setLapse] = useState<unknown>()
  const { data: options } = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions })
  const take = (next: SignInStep) => {
    setLapse(undefined)
    if ('needs' in next) setStep(next)
    else if (next.recovery_codes !== undefined) setCodes(next.recovery_codes)
    else onDone()
  }
  const startOver = (why?: unknown) => {
    setStep(undefined)
    setLapse(why)
  }
  const arrival = useQuery({
    queryKey: ['sign-in', ticket],
    enabled: ticket !== '',
    queryFn: async () => {
      take(await continueSignIn(ticket, {}))
      return true
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (codes !== undefined)
    return (
      <Suspense fallback={<Waiting />}>
        <SecretOnce
          title={say('start.recoveryCodes')}
          secrets={[{ name: say('start.recoveryCodesHint'), value: codes.join('\n') }]}
          onDone={onDone}
        />
      </Suspense>
    )
  if (step !== undefined)
    return (
      <Suspense fallback={<Waiting />}>
        <SignInNeed key={step.ticket + step.needs} step={step} onStep={take} onLapse={startOver} />
      </Suspense>
    )
  if (ticket !== '' && arrival.isPending) return <Waiting />
  return (
    <Stack>
      <FaultBox error={lapse ?? arrival.error} />
      <PlainForm
        fields={[
          { kind: 'email', name: 'email', label: say('start.email'), required: true, autoComplete: 'username' },
          {
            kind: 'password',
            name: 'password',
            label: say('start.password'),
            required: true,
            autoComplete: 'current-password',
          },
        ]}
        initial={{ email, password: '' }}
        submit={async ({ email: address, password }) => take(await signIn(String(address).trim(), String(password)))}
        verb={say('start.signIn')}
        wide
      />
      {options?.sends_mail === true && !stays && (
        <Anchor component={Link} to="/forgotten-password" size="sm">
          {say('start.forgotten')}
        </Anchor>
      )}
      <OtherMethods providers={options?.identity_providers ?? []} stays={stays} onStep={take} onSignedIn={onDone} />
    </Stack>
  )
}

function Waiting() {
  return <Loader role="status" aria-label={say('part.loading')} mx="auto" />
}
