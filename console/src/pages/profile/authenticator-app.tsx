import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { beginTotp, confirmTotp, disableTotp, FACTOR_KEY, type SecondFactor } from '../../api/people/profile.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { TotpSecret } from '../../parts/display/totp-secret.tsx'
import { When } from '../../parts/display/when.tsx'
import { OneTimeCode } from '../../parts/forms/one-time-code.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { Section } from './section.tsx'
import { useProof } from './use-proof.tsx'

/** Codes by time: set up with an app, and ended. */
export function AuthenticatorApp({ factor }: { readonly factor: SecondFactor }) {
  const client = useQueryClient()
  const { proven, dialog } = useProof()
  const [codes, setCodes] = useState<readonly string[]>()
  const [isEnding, setEnding] = useState(false)
  const { enabled, confirmed_at } = factor.totp
  const begin = useMutation({ mutationFn: () => proven(beginTotp) })
  const confirm = useMutation({
    mutationFn: (code: string) => proven(() => confirmTotp(code)),
    onSuccess: (made) => {
      begin.reset()
      setCodes(made)
      void client.invalidateQueries({ queryKey: FACTOR_KEY })
    },
  })
  return (
    <Section
      title={say('profile.totp')}
      hint={say('profile.totpHint')}
      state={
        <Badge color={enabled ? 'teal' : 'gray'} variant="light">
          {say(enabled ? 'profile.totpOn' : 'profile.totpOff')}
        </Badge>
      }
    >
      {dialog}
      {enabled && (
        <Text size="sm">
          {say('profile.totpSince')} <When at={confirmed_at} />
        </Text>
      )}
      {begin.data !== undefined && !enabled && (
        <Stack maw={420}>
          <TotpSecret hint={say('profile.scan')} secret={begin.data.secret} uri={begin.data.otpauth_uri} />
          <OneTimeCode
            key={confirm.failureCount + (confirm.isPending ? 0.5 : 0)}
            isWaiting={confirm.isPending}
            onCode={(code) => confirm.mutate(code)}
          />
        </Stack>
      )}
      <FaultBox error={begin.error ?? confirm.error} />
      <Group>
        {enabled ? (
          <Button variant="light" color="red" onClick={() => setEnding(true)}>
            {say('profile.endTotp')}
          </Button>
        ) : begin.data === undefined ? (
          <Button variant="default" onClick={() => begin.mutate()} loading={begin.isPending}>
            {say('profile.setUpTotp')}
          </Button>
        ) : (
          <Button variant="default" onClick={() => begin.reset()}>
            {say('part.cancel')}
          </Button>
        )}
      </Group>
      <SecretOnce
        title={say('profile.totpDone')}
        secrets={codes && [{ name: say('start.recoveryCodesHint'), value: codes.join('\n') }]}
        onDone={() => setCodes(undefined)}
      />
      <EndDialog isOpen={isEnding} onClose={() => setEnding(false)} />
    </Section>
  )
}

function EndDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const client = useQueryClient()
  return (
    <Modal opened={isOpen} onClose={onClose} title={say('profile.endTotp')}>
      <Stack>
        <Text size="sm">{say('profile.endTotpHint')}</Text>
        <RecordForm
          fields={[
            {
              kind: 'password',
              name: 'password',
              label: say('profile.current'),
              required: true,
              autoComplete: 'current-password',
            },
            {
              kind: 'text',
              name: 'code',
              label: say('profile.codeOrRecovery'),
              required: true,
              autoComplete: 'one-time-code',
            },
          ]}
          initial={{ password: '', code: '' }}
          submit={({ password, code }) => disableTotp(String(password), String(code))}
          onDone={() => {
            notifyDone(say('profile.totpEnded'))
            void client.invalidateQueries({ queryKey: FACTOR_KEY })
            onClose()
          }}
          onCancel={onClose}
          verb={say('profile.endTotp')}
          done=""
        />
      </Stack>
    </Modal>
  )
}
