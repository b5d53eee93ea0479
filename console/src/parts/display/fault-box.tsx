import { Alert, Button, Group, Text } from '@mantine/core'
import { TriangleAlertIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { CallError } from '../../api/calls/call.ts'
import { say } from '../../texts/say.ts'

/** An error in the words of the dashboard, with the request id for its log. */
export function FaultBox({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (error === null || error === undefined) return null
  const requestId = error instanceof CallError ? error.requestId : ''
  const waitS = error instanceof CallError ? error.retryAfterS : 0
  return (
    <Alert
      color="red"
      icon={<TriangleAlertIcon aria-hidden />}
      title={<span className="wrap-anywhere">{faultText(error)}</span>}
      role="alert"
    >
      {waitS > 0 && <Wait key={requestId} seconds={waitS} />}
      <Group justify="space-between">
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {requestId === '' ? '' : say('part.request', { id: requestId })}
        </Text>
        {retry && (
          <Button size="xs" variant="light" color="red" onClick={retry}>
            {say('part.retry')}
          </Button>
        )}
      </Group>
    </Alert>
  )
}

/** Counts down to the next try. */
function Wait({ seconds }: { readonly seconds: number }) {
  const [until] = useState(() => Date.now() + seconds * 1000)
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000))), 250)
    return () => clearInterval(timer)
  }, [until])
  return (
    <Text size="sm" aria-live="off">
      {left === 0 ? say('part.waitOver') : say('part.wait', { time: clock(left) })}
    </Text>
  )
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** The words for a failure. */
export function faultText(error: unknown): string {
  if (error instanceof CallError) return error.status === 0 ? say('part.unreachable') : error.message
  return error instanceof Error ? error.message : String(error)
}
