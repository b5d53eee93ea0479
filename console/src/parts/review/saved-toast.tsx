import { Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { apiKey } from '../../api/apis/apis.ts'
import { useMay } from '../../api/people/session.ts'
import { listHistory, undoAuditEntry } from '../../api/platform/audit.ts'
import { readSyncStatus } from '../../api/platform/nodes.ts'
import { say } from '../../texts/say.ts'
import { faultText } from '../display/fault-box.tsx'
import { count, duration } from '../display/when.tsx'
import { useUndoRefusal } from '../history/undo-rights.ts'
import type { ReviewedObject } from './affected.tsx'
import { liveNodesOf } from './live-nodes.ts'

interface Saved {
  readonly object: ReviewedObject
  /** The requests that wrote it: the audit log names its entries by them. */
  readonly requestIds: readonly string[]
  /** When it was requested, on the clock of the page. */
  readonly clickedAtMs: number
}

const SHOWN_MS = 15_000

/** Says that an object is saved, where it is live, and offers to undo that. */
export function notifySaved(saved: Saved): void {
  const id = `saved ${saved.requestIds.join()}`
  const message = <Message saved={saved} />
  notifications.show({ id, message, color: 'teal', withBorder: true, autoClose: SHOWN_MS })
}

function Message({ saved }: { readonly saved: Saved }) {
  const client = useQueryClient()
  const { object, requestIds, clickedAtMs } = saved
  const undoing = useMutation({
    mutationFn: () => undoWrite(saved),
    // Anything may have come back.
    onSuccess: () => client.invalidateQueries(),
  })
  const mayRead = useMay('audit_logs')
  const refusal = useUndoRefusal([{ kind: object.kind }])
  if (undoing.isSuccess) return <Text size="sm">{say('review.undone')}</Text>
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap">
      <Stack gap={0} miw={0}>
        <Text size="sm">{say('part.saved')}</Text>
        {object.kind === 'api' && <Live id={object.id} clickedAtMs={clickedAtMs} />}
        {undoing.error !== null && (
          <Text size="sm" role="alert" className="wrap-anywhere">
            {faultText(undoing.error)}
          </Text>
        )}
      </Stack>
      {mayRead && refusal === undefined && requestIds.length > 0 && (
        <Button variant="light" size="compact-sm" loading={undoing.isPending} onClick={() => undoing.mutate()}>
          {say('audit.undo')}
        </Button>
      )}
    </Group>
  )
}

/** Undoes the entry of exactly this save, whatever others did since. @throws CallError where it cannot be undone any more */
async function undoWrite({ object: { kind, id }, requestIds }: Saved): Promise<unknown> {
  const { audit_logs: entries } = await listHistory(kind, id, 1, new AbortController().signal)
  const entry = entries.find(({ req_id }) => requestIds.includes(req_id))
  if (entry === undefined) throw new Error(say('review.noEntry'))
  return undoAuditEntry(entry._id)
}

const SOON_MS = 50
const LATER_MS = 1000
/** So many looks follow each other quickly; a node that has not answered by then is away, or busy. */
const QUICK_LOOKS = 20
const MOST_FAILED = 3

/** On how many nodes the stored definition is live, how long after the click all of them had it, and which do not serve it. */
function Live({ id, clickedAtMs }: { readonly id: string; readonly clickedAtMs: number }) {
  const looks = useRef(0)
  const { data } = useQuery({
    queryKey: [...apiKey(id), 'live', clickedAtMs],
    queryFn: async ({ signal }) => {
      const { revision, nodes } = await readSyncStatus(id, signal)
      looks.current++
      return { ...liveNodesOf(revision, nodes), ms: performance.now() - clickedAtMs }
    },
    refetchInterval: ({ state: { data: known } }) =>
      known?.isFinal === true ? false : looks.current < QUICK_LOOKS ? SOON_MS : LATER_MS,
    retry: false,
  })
  if (data === undefined || data.total === 0) return null
  const { live, total, isFinal, failed, ms } = data
  const more = failed.length - MOST_FAILED
  return (
    <Text size="xs" c="dimmed" component="div" aria-live="polite" className="wrap-anywhere">
      {live === total
        ? say(total === 1 ? 'review.liveOne' : 'review.live', { live, total, time: duration(ms) })
        : say(isFinal ? 'review.liveFinal' : 'review.livePart', { live, total })}
      {failed.slice(0, MOST_FAILED).map(({ node, state, reason }) => (
        <div key={node}>{say('review.notLive', { node, reason: reason || say(`apis.nodeWhy.${state}`) })}</div>
      ))}
      {more > 0 && <div>{say('history.more', { count: count(more) })}</div>}
    </Text>
  )
}
