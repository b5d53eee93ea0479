import { Alert } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { UnplugIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { call, onConnection } from '../api/calls/call.ts'
import { notifyDone } from '../parts/display/notify.ts'
import { say } from '../texts/say.ts'

const AGAIN_MS = 3_000

/** Shows that the dashboard is unreachable, and reads everything again once it is back. */
export function Connection() {
  const client = useQueryClient()
  const [isLost, setLost] = useState(false)
  useEffect(() => onConnection((isUp) => setLost(!isUp)), [])
  useEffect(() => {
    if (!isLost) return
    // A try that fails is what this waits through.
    const timer = setInterval(() => call('GET', '/hello').catch(() => {}), AGAIN_MS)
    return () => {
      clearInterval(timer)
      notifyDone(say('part.connectionBack'), 'connection')
      void client.invalidateQueries()
    }
  }, [isLost, client])
  if (!isLost) return null
  return (
    <Alert color="red" icon={<UnplugIcon aria-hidden />} title={say('part.connectionLost')} role="status" mb="md">
      {say('part.connectionLostHint')}
    </Alert>
  )
}
