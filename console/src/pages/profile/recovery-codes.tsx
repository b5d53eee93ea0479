import { Badge, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { FACTOR_KEY, renewRecoveryCodes, type SecondFactor } from '../../api/people/profile.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { Section } from './section.tsx'
import { useProof } from './use-proof.tsx'

const FEW = 3

/** The codes for the day on which the second factor is lost. */
export function RecoveryCodes({ factor }: { readonly factor: SecondFactor }) {
  const client = useQueryClient()
  const { proven, dialog } = useProof()
  const making = useMutation({
    mutationFn: () => proven(renewRecoveryCodes),
    onSuccess: () => client.invalidateQueries({ queryKey: FACTOR_KEY }),
  })
  const has = factor.totp.enabled || factor.passkeys > 0
  const left = factor.recovery_codes_left
  return (
    <Section
      title={say('profile.recovery')}
      hint={say('profile.recoveryHint')}
      state={
        has && (
          <Badge color={left <= FEW ? 'orange' : 'teal'} variant="light">
            {say('profile.recoveryLeft', { number: count(left) })}
          </Badge>
        )
      }
    >
      {dialog}
      <FaultBox error={making.error} />
      {has ? (
        <Group>
          <Button variant="default" onClick={() => making.mutate()} loading={making.isPending}>
            {say('profile.newCodes')}
          </Button>
        </Group>
      ) : (
        <Text size="sm">{say('profile.recoveryNone')}</Text>
      )}
      <SecretOnce
        title={say('profile.recovery')}
        secrets={making.data && [{ name: say('start.recoveryCodesHint'), value: making.data.join('\n') }]}
        onDone={() => making.reset()}
      />
    </Section>
  )
}
