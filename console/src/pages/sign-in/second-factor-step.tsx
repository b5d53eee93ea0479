import { Button, Divider, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { askPasskey, continueSignIn, isExpired } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { TotpSecret } from '../../parts/display/totp-secret.tsx'
import { OneTimeCode } from '../../parts/forms/one-time-code.tsx'
import { say } from '../../texts/say.ts'
import type { StepProps } from './step-props.ts'

/** The second factor: its code, a passkey, a recovery code; or setting one up where the organisation asks for it. */
export function SecondFactorStep({ step, onStep, onLapse }: StepProps) {
  const methods = step.methods ?? ['code']
  const isEnrolment = step.needs === 'enrolment'
  const hasCode = isEnrolment || methods.includes('code')
  const [isRecovery, setRecovery] = useState(false)
  const onError = (error: unknown) => {
    if (isExpired(error)) onLapse(error)
  }
  const verification = useMutation({
    mutationFn: (given: Record<string, unknown>) => continueSignIn(step.ticket, given),
    onSuccess: onStep,
    onError,
  })
  const passkey = useMutation({
    mutationFn: async () => continueSignIn(step.ticket, { passkey: await askPasskey(step.passkey_options) }),
    onSuccess: onStep,
    onError,
  })
  return (
    <Stack>
      {isEnrolment && <TotpSecret hint={say('start.enrol')} secret={step.secret ?? ''} uri={step.otpauth_uri ?? ''} />}
      {isRecovery ? (
        <RecoveryForm
          isWaiting={verification.isPending}
          onCode={(code) => verification.mutate({ recovery_code: code })}
        />
      ) : (
        hasCode && (
          <OneTimeCode
            key={verification.failureCount}
            isWaiting={verification.isPending}
            onCode={(code) => verification.mutate({ code })}
          />
        )
      )}
      <FaultBox error={verification.error ?? passkey.error} />
      {!isEnrolment && hasCode && (methods.length > 1 || isRecovery) && <Divider label={say('start.or')} />}
      {!isEnrolment && methods.includes('passkey') && (
        <Button
          variant={hasCode ? 'default' : 'filled'}
          onClick={() => passkey.mutate()}
          loading={passkey.isPending}
          data-autofocus={!hasCode}
        >
          {say('start.usePasskey')}
        </Button>
      )}
      {!isEnrolment && methods.includes('recovery_code') && (
        <Button variant="subtle" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery && hasCode ? say('start.useCode') : say('start.useRecovery')}
        </Button>
      )}
    </Stack>
  )
}

function RecoveryForm({ isWaiting, onCode }: { readonly isWaiting: boolean; readonly onCode: (code: string) => void }) {
  const [code, setCode] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (code.trim() !== '') onCode(code.trim())
      }}
    >
      <Stack>
        <TextInput
          label={say('start.recoveryCode')}
          description={say('start.recoveryCodeHint')}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          autoComplete="off"
          autoFocus
        />
        <Button type="submit" loading={isWaiting}>
          {say('start.goOn')}
        </Button>
      </Stack>
    </form>
  )
}
