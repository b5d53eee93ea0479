import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ME_KEY, readMe } from '../../api/people/profile.ts'
import { FIRST_STEPS_KEY, type FirstSteps, makeFirstKey } from '../../api/traffic/home.ts'
import { CopyBlock } from '../../parts/display/copy.tsx'
import { callCommand } from '../../parts/display/curl.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { SecretOnce } from '../../parts/display/secret-once.tsx'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { addApiCommand, makeKeyCommand } from './commands.ts'
import { Step } from './step.tsx'

interface Props {
  readonly steps: FirstSteps
}

export function AddApiStep({ steps }: Props) {
  const { api, upstream } = steps
  return (
    <Step number={1} title={say('start.stepApi')} isDone={api !== undefined} isOpen={api === undefined}>
      {api !== undefined ? (
        <Text size="sm" className="wrap-anywhere">
          {say('start.stepApiDone', { name: api.name, url: api.url })}
        </Text>
      ) : (
        <>
          <Text size="sm">{say('start.stepApiHint')}</Text>
          <Group gap="xs">
            <Button component={Link} to="/apis/new" size="xs">
              {say('shell.newApi')}
            </Button>
          </Group>
          <WithCurl command={(caller) => addApiCommand(caller, upstream)} />
        </>
      )}
    </Step>
  )
}

export function KeyStep({ steps, newKey }: Props & { readonly newKey: string }) {
  const client = useQueryClient()
  const { api, hasKey } = steps
  const [shown, setShown] = useState(false)
  const making = useMutation({
    mutationFn: () => makeFirstKey(newKey, api!),
    onSuccess: () => {
      setShown(true)
      void client.invalidateQueries({ queryKey: FIRST_STEPS_KEY })
    },
  })
  return (
    <Step number={2} title={say('start.stepKey')} isDone={hasKey} isOpen={api !== undefined && !hasKey}>
      {hasKey ? (
        <Text size="sm">{say('start.stepKeyDone')}</Text>
      ) : (
        <Text size="sm">{say(api === undefined ? 'start.stepKeyLater' : 'start.stepKeyHint')}</Text>
      )}
      {api !== undefined && !hasKey && (
        <>
          <Group gap="xs">
            <GuardedButton permission="keys" size="xs" onClick={() => making.mutate()} loading={making.isPending}>
              {say('start.makeKey')}
            </GuardedButton>
            <Button component={Link} to="/keys/new" size="xs" variant="default">
              {say('start.chooseKey')}
            </Button>
          </Group>
          <FaultBox error={making.error} />
          <WithCurl command={(caller) => makeKeyCommand(caller, newKey, api)} />
        </>
      )}
      <SecretOnce
        title={say('start.keyMade')}
        secrets={shown ? [{ name: say('start.key'), value: newKey }] : undefined}
        onDone={() => setShown(false)}
      >
        <Text size="sm">{say('start.keyMadeHint')}</Text>
      </SecretOnce>
    </Step>
  )
}

/** `knownKey` undefined: a key was there before, and only its owner knows it. */
export function CallStep({ steps, knownKey }: Props & { readonly knownKey: string | undefined }) {
  const { api, hasKey, hasCalled } = steps
  const isReady = api !== undefined && hasKey
  return (
    <Step number={3} title={say('start.stepCall')} isDone={hasCalled} isOpen={isReady && !hasCalled}>
      {!isReady ? (
        <Text size="sm">{say('start.stepCallLater')}</Text>
      ) : (
        <>
          <Text size="sm">{say(hasCalled ? 'start.stepCallDone' : 'start.stepCallHint')}</Text>
          <CopyBlock
            value={callCommand(api, knownKey ?? say('start.yourKey'))}
            label={say('start.command', { title: say('start.stepCall') })}
          />
          {knownKey === undefined && api.keyField !== undefined && (
            <Text size="sm" c="dimmed">
              {say('start.putKeyIn')}
            </Text>
          )}
          {!api.isCounted && !hasCalled && <Alert color="yellow">{say('start.notCounted', { name: api.name })}</Alert>}
        </>
      )}
    </Step>
  )
}

type Command = (caller: { readonly dashboard: string; readonly credential: string }) => string

/** The same by a command. It holds the reader's credential, so it is shown when it is asked for. */
function WithCurl({ command }: { readonly command: Command }) {
  const [isAsked, setAsked] = useState(false)
  const me = useQuery({ queryKey: ME_KEY, queryFn: ({ signal }) => readMe(signal), enabled: isAsked })
  if (!isAsked)
    return (
      <Group>
        <Button variant="subtle" size="xs" onClick={() => setAsked(true)}>
          {say('start.withCurl')}
        </Button>
      </Group>
    )
  if (me.data === undefined) return <FaultBox error={me.error} />
  return (
    <>
      <Text size="sm" c="dimmed">
        {say('start.curlHint')}
      </Text>
      <CopyBlock
        value={command({ dashboard: window.location.origin, credential: me.data.access_key })}
        label={say('start.command', { title: 'curl' })}
      />
    </>
  )
}
