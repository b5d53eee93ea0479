import { Anchor, Box, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { HistoryIcon } from 'lucide-react'
import { useId, useState } from 'react'
import { AUDIT_KEY, type AuditEntry, listHistory, readAuditEntry } from '../../api/platform/audit.ts'
import { useAddress } from '../../app/address.ts'
import { say } from '../../texts/say.ts'
import { Empty } from '../display/empty.tsx'
import { FaultBox } from '../display/fault-box.tsx'
import { fullTime, When } from '../display/when.tsx'
import { JsonDifference } from '../editors/json-difference.tsx'
import { Guarded } from '../forms/guarded.tsx'
import { Pager } from '../tables/pager.tsx'
import { ChangeSentence } from './change-sentence.tsx'
import { UndoEntry } from './undo-entry.tsx'

interface Props {
  /** As the audit log names kinds of documents. */
  readonly kind: string
  /** The id that calls name the object by; of keys and tokens their hash. */
  readonly id: string
}

const ABSENT = { changes: '1' } as const

/** The changes of one object, newest first, in sentences, each with its difference; the latest can be undone. */
export function History(props: Props) {
  return (
    <Guarded permission="audit_logs">
      <Entries {...props} />
    </Guarded>
  )
}

function Entries({ kind, id }: Props) {
  const [{ changes }, set] = useAddress(ABSENT)
  const page = Number(changes) || 1
  const log = useQuery({
    queryKey: [...AUDIT_KEY, 'of', kind, id, page],
    queryFn: ({ signal }) => listHistory(kind, id, page, signal),
    placeholderData: keepPreviousData,
  })
  if (log.data === undefined)
    return log.error === null ? <Skeleton h={240} /> : <FaultBox error={log.error} retry={() => void log.refetch()} />
  const { audit_logs: entries, pages } = log.data
  if (entries.length === 0)
    return <Empty icon={HistoryIcon} title={say('history.empty')} hint={say('history.emptyHint')} />
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {say('history.hint')}
      </Text>
      <Stack component="ol" gap={0} p={0} m={0} style={{ listStyle: 'none' }} aria-label={say('history.title')}>
        {entries.map((entry, index) => (
          <Entry key={entry._id} entry={entry} kind={kind} isLatest={page === 1 && index === 0} />
        ))}
      </Stack>
      <Pager page={page} pages={pages} onPage={(next) => set({ changes: String(next) })} />
    </>
  )
}

function Entry(props: { readonly entry: AuditEntry; readonly kind: string; readonly isLatest: boolean }) {
  const { entry, kind, isLatest } = props
  const [isOpen, setOpen] = useState(false)
  const place = useId()
  return (
    <Box component="li" py="sm" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={2} miw={0} flex="1 1 18rem">
          <ChangeSentence entry={entry} kind={kind} />
          <Text size="xs" c="dimmed">
            <When at={entry.timestamp} /> · {fullTime(entry.timestamp)} ·{' '}
            <Anchor component={Link} to={`/audit/${entry._id}`} size="xs" inherit underline="always">
              {say('history.entry')}
            </Anchor>
          </Text>
        </Stack>
        {entry.diff !== undefined && (
          <Group gap="xs">
            <Button
              variant="default"
              size="xs"
              aria-expanded={isOpen}
              aria-controls={place}
              onClick={() => setOpen(!isOpen)}
            >
              {say(isOpen ? 'history.hide' : 'history.show')}
            </Button>
            <UndoEntry
              id={entry._id}
              changes={[{ kind }]}
              size="xs"
              reason={isLatest ? undefined : say('history.newer')}
            />
          </Group>
        )}
      </Group>
      <Box id={place}>{isOpen && <Difference entry={entry} kind={kind} />}</Box>
    </Box>
  )
}

function Difference({ entry, kind }: { readonly entry: AuditEntry; readonly kind: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...AUDIT_KEY, entry._id],
    queryFn: ({ signal }) => readAuditEntry(entry._id, signal),
  })
  if (data === undefined)
    return error === null ? <Skeleton h={120} mt="sm" /> : <FaultBox error={error} retry={() => void refetch()} />
  const label = say('history.changes', { user: entry.user || say('audit.itself'), time: fullTime(entry.timestamp) })
  return (
    <Stack mt="sm" gap="sm">
      {(data.changes ?? [])
        .filter((change) => change.kind === kind)
        .map(({ id, before, after }) => (
          <JsonDifference key={id} label={label} before={before} after={after} />
        ))}
    </Stack>
  )
}
