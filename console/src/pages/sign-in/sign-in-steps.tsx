import { Anchor, Button, Radio, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { continueSignIn, isExpired } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PlainForm } from '../../parts/forms/plain-form.tsx'
import { say } from '../../texts/say.ts'
import { SecondFactorStep } from './second-factor-step.tsx'
import type { StepProps } from './step-props.ts'

/** The steps of a sign-in after the password. */
export function SignInNeed(props: StepProps) {
  return (
    <Stack>
      <Need {...props} />
      <Anchor component="button" type="button" size="sm" onClick={() => props.onLapse()} ta="start">
        {say('start.startOver')}
      </Anchor>
    </Stack>
  )
}

function Need(props: StepProps) {
  const { needs } = props.step
  if (needs === 'organisation') return <ChooseOrganisation {...props} />
  if (needs === 'new_password') return <NewPassword {...props} />
  return <SecondFactorStep {...props} />
}

function ChooseOrganisation({ step, onStep, onLapse }: StepProps) {
  const [chosen, setChosen] = useState(step.organisations?.[0]?.id ?? '')
  const going = useMutation({
    mutationFn: () => continueSignIn(step.ticket, { org_id: chosen }),
    onSuccess: onStep,
    onError: (error) => isExpired(error) && onLapse(error),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        going.mutate()
      }}
    >
      <Stack>
        <Radio.Group label={say('start.whichOrganisation')} value={chosen} onChange={setChosen}>
          <Stack mt="xs" gap="xs" mah="40vh" style={{ overflow: 'auto' }}>
            {step.organisations?.map(({ id, name }) => (
              <Radio key={id} value={id} label={name} className="wrap-anywhere" />
            ))}
          </Stack>
        </Radio.Group>
        <FaultBox error={going.error} />
        <Button type="submit" loading={going.isPending}>
          {say('start.goOn')}
        </Button>
      </Stack>
    </form>
  )
}

function NewPassword({ step, onStep, onLapse }: StepProps) {
  return (
    <Stack>
      <Text size="sm">{say('start.passwordOld')}</Text>
      <PlainForm
        fields={[
          {
            kind: 'password',
            name: 'password',
            label: say('start.newPassword'),
            required: true,
            autoComplete: 'new-password',
          },
        ]}
        initial={{ password: '' }}
        submit={async ({ password }) => {
          try {
            onStep(await continueSignIn(step.ticket, { new_password: password }))
          } catch (error) {
            if (!isExpired(error)) throw error
            onLapse(error)
          }
        }}
        verb={say('start.goOn')}
        wide
      />
    </Stack>
  )
}
