import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { DatabaseBackupIcon } from 'lucide-react'
import { HEALTH_KEY, readHealth } from '../../api/platform/nodes.ts'
import { When } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { NODES_REFRESH_MS } from './refresh-interval.ts'

/** When the last backup was made, where the process of the dashboard makes them by itself. */
export function BackupState() {
  const health = useQuery({
    queryKey: HEALTH_KEY,
    queryFn: ({ signal }) => readHealth(signal),
    refetchInterval: NODES_REFRESH_MS,
  })
  const backup = health.data?.details.backup
  if (backup === undefined) return null
  const { status, output, observedValue: ageS, time } = backup
  const last =
    ageS === undefined ? (
      say('nodes.noBackup')
    ) : (
      <>
        {say('nodes.lastBackup')} <When at={new Date(time).getTime() - ageS * 1000} />
      </>
    )
  if (status === 'pass') return <Text size="sm">{last}</Text>
  return (
    <Alert color="red" icon={<DatabaseBackupIcon aria-hidden />} title={say('nodes.backupFails')}>
      <Text size="sm">{output}</Text>
      <Text size="sm">{last}</Text>
    </Alert>
  )
}
