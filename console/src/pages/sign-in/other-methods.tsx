import { Button, Divider, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { FingerprintIcon, LogInIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type IdpOption, readSignInOptions } from '../../api/people/endpoints.ts'
import { hasPasskeys, type SignInStep, signInWithPasskey } from '../../api/people/sign-in.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { say } from '../../texts/say.ts'
import { DirectoryForm } from './directory-form.tsx'

interface Props {
  readonly providers: readonly IdpOption[]
  /** True where the page must stay: what leads elsewhere opens in another tab. */
  readonly stays: boolean
  readonly onStep: (step: SignInStep) => void
  readonly onSignedIn: () => void
}

/** A long name wraps. */
const WRAPS = { label: { whiteSpace: 'normal', overflowWrap: 'anywhere' } } as const

/** Signing in without the password of the dashboard: by passkey, single sign-on, a directory. */
export function OtherMethods({ providers, stays, onStep, onSignedIn }: Props) {
  const passkey = useMutation({ mutationFn: signInWithPasskey, onSuccess: onStep })
  const [isElsewhere, setElsewhere] = useState(false)
  useReturn(isElsewhere, onSignedIn)
  const shown = stays ? providers.filter(({ kind }) => kind === 'redirect') : providers
  const canPasskey = hasPasskeys()
  if (!canPasskey && shown.length === 0) return null
  return (
    <Stack>
      <Divider label={say('start.or')} />
      {canPasskey && (
        <Button
          variant="default"
          leftSection={<FingerprintIcon size={16} aria-hidden />}
          onClick={() => passkey.mutate()}
          loading={passkey.isPending}
        >
          {say('start.passkey')}
        </Button>
      )}
      {shown.map(({ name, url, kind }) =>
        kind === 'redirect' ? (
          <Button
            key={url}
            component="a"
            href={url}
            variant="default"
            h="auto"
            py={7}
            styles={WRAPS}
            leftSection={<LogInIcon size={16} aria-hidden />}
            {...(stays && { target: '_blank', onClick: () => setElsewhere(true) })}
          >
            {say('start.with', { name })}
          </Button>
        ) : (
          <DirectoryForm key={url} name={name} url={url} />
        ),
      )}
      {isElsewhere && (
        <Text size="sm" role="status">
          {say('start.elsewhere')}
        </Text>
      )}
      <FaultBox error={passkey.error} />
    </Stack>
  )
}

/** Looks, whenever the reader comes back from another tab, whether they are signed in by now. */
function useReturn(isElsewhere: boolean, onSignedIn: () => void) {
  useEffect(() => {
    if (!isElsewhere) return
    const look = async () => {
      const options = await readSignInOptions().catch(() => undefined)
      if (options?.signed_in === true) onSignedIn()
    }
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [isElsewhere, onSignedIn])
}
