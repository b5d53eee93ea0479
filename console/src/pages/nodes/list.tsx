import { Alert, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ServerOffIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { listNodes, NODES_KEY } from '../../api/platform/nodes.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { BackupState } from './backup-state.tsx'
import { NodeTable } from './node-table.tsx'
import { NotServedAlert } from './not-served-alert.tsx'
import { NODES_REFRESH_MS } from './refresh-interval.ts'
import { SyncStatusTable } from './sync-status-table.tsx'

/** Gateway nodes, and the state of each API on them. */
export default function Nodes() {
  const mayApis = useMay('apis')
  return (
    <>
      <PageHead title={say('nodes.title')} hint={say('nodes.hint')} />
      <Guarded permission="system">
        <Stack gap="lg">
          {mayApis && <NotServedAlert />}
          <Table />
          <BackupState />
          {mayApis && <SyncStatusTable />}
        </Stack>
      </Guarded>
    </>
  )
}

function Table() {
  const nodes = useQuery({
    queryKey: NODES_KEY,
    queryFn: ({ signal }) => listNodes(signal),
    refetchInterval: NODES_REFRESH_MS,
  })
  const isDown = nodes.data !== undefined && nodes.data.length > 0 && nodes.data.every(({ active }) => !active)
  return (
    <>
      {isDown && (
        <Alert color="red" icon={<ServerOffIcon aria-hidden />} title={say('nodes.allDown')}>
          {say('nodes.allDownHint')}
        </Alert>
      )}
      <NodeTable nodes={nodes.data} error={nodes.error} retry={() => void nodes.refetch()} />
    </>
  )
}
