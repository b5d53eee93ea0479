import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { EyeIcon, EyeOffIcon, RefreshCwIcon } from 'lucide-react'
import { useState } from 'react'
import { ME_KEY, type Me, renewCredential } from '../../api/people/profile.ts'
import { CopyBlock } from '../../parts/display/copy.tsx'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { say } from '../../texts/say.ts'
import { Section } from './section.tsx'

/** The credential for the dashboard API: hidden until asked for, and replaced here. */
export function Credential({ me }: { readonly me: Me }) {
  const [isShown, setShown] = useState(false)
  const [isAsked, setAsked] = useState(false)
  return (
    <Section title={say('profile.credential')} hint={say('profile.credentialHint')}>
      {isShown && (
        <Stack gap="sm">
          <CopyBlock value={me.access_key} label={say('profile.credentialLabel')} />
          <Text size="sm" fw={600}>
            {say('profile.tryIt')}
          </Text>
          <CopyBlock
            value={`curl -H 'Authorization: ${me.access_key}' \\\n  '${window.location.origin}/api/users/me'`}
            label={say('profile.tryIt')}
          />
        </Stack>
      )}
      <Group>
        <Button
          variant="default"
          leftSection={isShown ? <EyeOffIcon size={16} aria-hidden /> : <EyeIcon size={16} aria-hidden />}
          onClick={() => setShown(!isShown)}
        >
          {say(isShown ? 'profile.hide' : 'profile.show')}
        </Button>
        <Button
          variant="light"
          color="red"
          leftSection={<RefreshCwIcon size={16} aria-hidden />}
          onClick={() => setAsked(true)}
        >
          {say('profile.reset')}
        </Button>
      </Group>
      <ResetQuestion me={me} isOpen={isAsked} onClose={() => setAsked(false)} onDone={() => setShown(true)} />
    </Section>
  )
}

function ResetQuestion(props: {
  readonly me: Me
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const client = useQueryClient()
  const reset = useMutation({
    mutationFn: () => renewCredential(props.me.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ME_KEY })
      notifyDone(say('profile.resetDone'))
      props.onClose()
      props.onDone()
    },
  })
  return (
    <Modal opened={props.isOpen} onClose={props.onClose} title={say('profile.resetTitle')}>
      <Stack>
        <Text size="sm">{say('profile.resetHint')}</Text>
        <FaultBox error={reset.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose} data-autofocus>
            {say('part.cancel')}
          </Button>
          <Button color="red" onClick={() => reset.mutate()} loading={reset.isPending}>
            {say('profile.reset')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
