import { PinInput, Stack, Text } from '@mantine/core'
import { useId } from 'react'
import { say } from '../../texts/say.ts'

const LENGTH = 6

/** Six digits of an authenticator app; they are sent as soon as they are whole. */
export function OneTimeCode(props: { readonly isWaiting: boolean; readonly onCode: (code: string) => void }) {
  const id = useId()
  return (
    <Stack gap="xs">
      <Text size="sm" id={id}>
        {say('start.code')}
      </Text>
      <PinInput
        length={LENGTH}
        type="number"
        oneTimeCode
        autoFocus
        aria-labelledby={id}
        getInputProps={(at) => ({ 'aria-label': say('start.digit', { number: at + 1 }) })}
        disabled={props.isWaiting}
        onComplete={props.onCode}
      />
    </Stack>
  )
}
