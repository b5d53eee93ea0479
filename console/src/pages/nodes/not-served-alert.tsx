import { Alert, Anchor, List } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TriangleAlertIcon } from 'lucide-react'
import { listSyncStatus, SYNC_STATUS_KEY } from '../../api/platform/nodes.ts'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { SYNC_STATUS_REFRESH_MS } from './refresh-interval.ts'

const MOST_NAMES = 8

/** Warns of APIs that are switched on and that no node serves. */
export function NotServedAlert() {
  const outOfSync = useOutOfSync()
  const lost = outOfSync.data?.apis.filter(({ nowhere }) => nowhere) ?? []
  if (lost.length === 0) return null
  const title =
    lost.length === 1 ? say('nodes.nowhereTitleOne') : say('nodes.nowhereTitle', { count: count(lost.length) })
  return (
    <Alert color="red" icon={<TriangleAlertIcon aria-hidden />} title={title}>
      {say('nodes.nowhereHint')}
      <List size="sm" mt="xs">
        {lost.slice(0, MOST_NAMES).map(({ api_id: id, name }) => (
          <List.Item key={id}>
            <Anchor
              component={Link}
              to={`/apis/${encodeURIComponent(id)}`}
              size="sm"
              c="inherit"
              underline="always"
              dir="auto"
              className="wrap-anywhere"
            >
              {name || id}
            </Anchor>
          </List.Item>
        ))}
        {lost.length > MOST_NAMES && (
          <List.Item>{say('nodes.more', { count: count(lost.length - MOST_NAMES) })}</List.Item>
        )}
      </List>
    </Alert>
  )
}

/** APIs that are not served as they are stored. */
export function useOutOfSync(isWanted = true) {
  return useQuery({
    queryKey: [...SYNC_STATUS_KEY, 'out-of-sync'],
    queryFn: ({ signal }) => listSyncStatus({ q: '', p: 1, outOfSync: true }, signal),
    refetchInterval: SYNC_STATUS_REFRESH_MS,
    enabled: isWanted,
  })
}
