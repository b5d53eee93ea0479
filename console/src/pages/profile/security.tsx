import { Alert, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { FACTOR_KEY, type Me, readFactor } from '../../api/people/profile.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { say } from '../../texts/say.ts'
import { AuthenticatorApp } from './authenticator-app.tsx'
import { Passkeys } from './passkeys.tsx'
import { Password } from './password.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

/** The security settings of the user's account. */
export function Security({ me }: { readonly me: Me }) {
  const factor = useQuery({ queryKey: FACTOR_KEY, queryFn: readFactor })
  return (
    <Stack maw={760}>
      <Password me={me} />
      <FaultBox error={factor.error} retry={() => void factor.refetch()} />
      {factor.data?.required === true && <Alert variant="light">{say('profile.required')}</Alert>}
      {factor.data !== undefined && <AuthenticatorApp factor={factor.data} />}
      <Passkeys />
      {factor.data !== undefined && <RecoveryCodes factor={factor.data} />}
    </Stack>
  )
}
