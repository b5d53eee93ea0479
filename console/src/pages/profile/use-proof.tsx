import { Button, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { FACTOR_KEY, needsProof, type Proof, proofOptions, prove, readFactor } from '../../api/people/profile.ts'
import { askPasskey, hasPasskeys } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { say } from '../../texts/say.ts'

interface Waiting {
  readonly goOn: () => void
  readonly giveUp: (error: unknown) => void
}

/**
 * Runs a call that needs a recent verification of the identity: asks for it where the call is refused, then
 * retries once. The caller renders the dialog.
 */
export function useProof(): {
  readonly proven: <Answer>(run: () => Promise<Answer>) => Promise<Answer>
  readonly dialog: ReactNode
} {
  const [waiting, setWaiting] = useState<{ readonly now: Waiting }>()
  const proven = async <Answer,>(run: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await run()
    } catch (error) {
      if (!needsProof(error)) throw error
      await new Promise<void>((goOn, refuse) => {
        setWaiting({ now: { goOn, giveUp: () => refuse(error) } })
      }).finally(() => setWaiting(undefined))
      return run()
    }
  }
  const dialog = waiting && <ProofDialog onProven={waiting.now.goOn} onClose={() => waiting.now.giveUp(undefined)} />
  return { proven, dialog }
}

function ProofDialog({ onProven, onClose }: { readonly onProven: () => void; readonly onClose: () => void }) {
  const { data: factor } = useQuery({ queryKey: FACTOR_KEY, queryFn: readFactor })
  const [typed, setTyped] = useState('')
  const proof = useMutation({ mutationFn: (given: Proof) => prove(given), onSuccess: onProven })
  const passkey = useMutation({
    mutationFn: async () => prove({ passkey: await askPasskey(await proofOptions()) }),
    onSuccess: onProven,
  })
  if (factor === undefined) return null
  const hasCode = factor.totp.enabled
  const hasPasskey = factor.passkeys > 0
  const send = () => {
    if (!hasCode && !hasPasskey) return proof.mutate({ password: typed })
    proof.mutate(/^\s*\d{3}\s?\d{3}\s*$/.test(typed) ? { code: typed } : { recovery_code: typed.trim() })
  }
  return (
    <Modal opened onClose={onClose} title={say('profile.prove')}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          if (typed !== '') send()
        }}
      >
        <Stack>
          <Text size="sm">{say('profile.proveHint')}</Text>
          {hasCode || hasPasskey ? (
            <TextInput
              label={say(hasCode ? 'profile.codeOrRecovery' : 'start.recoveryCode')}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="one-time-code"
              data-autofocus
            />
          ) : (
            <PasswordInput
              label={say('start.password')}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="current-password"
              data-autofocus
            />
          )}
          <FaultBox error={proof.error ?? passkey.error} />
          <Button type="submit" loading={proof.isPending}>
            {say('profile.proveVerb')}
          </Button>
          {hasPasskey && hasPasskeys() && (
            <Button variant="default" onClick={() => passkey.mutate()} loading={passkey.isPending}>
              {say('profile.usePasskey')}
            </Button>
          )}
        </Stack>
      </form>
    </Modal>
  )
}
