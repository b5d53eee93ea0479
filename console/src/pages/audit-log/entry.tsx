import { Badge, Box, Code, Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { AUDIT_KEY, type AuditChange, type AuditEntry, readAuditEntry } from '../../api/platform/audit.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { fullTime, When } from '../../parts/display/when.tsx'
import { JsonDifference } from '../../parts/editors/json-difference.tsx'
import { UndoEntry } from '../../parts/history/undo-entry.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { say } from '../../texts/say.ts'
import { Fact } from '../users/side-cards.tsx'
import { StatusBadge } from './status-badge.tsx'

/** One entry of the audit log: who did what, with what it changed, and taking it back. */
export default function Entry() {
  const { id = '' } = useParams({ strict: false })
  const entry = useQuery({ queryKey: [...AUDIT_KEY, id], queryFn: ({ signal }) => readAuditEntry(id, signal) })
  if (entry.data === undefined && entry.error !== null)
    return <NotReadable error={entry.error} retry={entry.refetch} title={say('audit.gone')} to="/audit" />
  if (entry.data === undefined) return <Skeleton h={400} />
  return <Page entry={entry.data} />
}

function Page({ entry }: { readonly entry: AuditEntry }) {
  const changes = entry.changes ?? []
  return (
    <>
      <PageHead
        title={entry.action || entry.url}
        hint={
          <>
            {say('audit.by', { user: entry.user || say('audit.itself') })} · <When at={entry.timestamp} /> ·{' '}
            {fullTime(entry.timestamp)}
          </>
        }
      >
        {changes.length > 0 && <UndoEntry id={entry._id} changes={changes} />}
      </PageHead>
      <Stack gap="lg">
        <Facts entry={entry} />
        <Box>
          <Title order={2} size="h4">
            {say('audit.changes')}
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            {say(changes.length === 0 ? 'audit.noChanges' : 'audit.secrets')}
          </Text>
          <Stack>
            {changes.map((change) => (
              <Change key={`${change.kind} ${change.id}`} change={change} />
            ))}
          </Stack>
        </Box>
        <Dump title={say('audit.detail')} text={detailOf(entry)} />
        <Dump title={say('audit.request')} text={entry.request_dump ?? ''} />
        <Dump title={say('audit.response')} text={entry.response_dump ?? ''} />
      </Stack>
    </>
  )
}

function Facts({ entry }: { readonly entry: AuditEntry }) {
  return (
    <Paper withBorder p="md">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        <Fact name={say('audit.call')}>
          {entry.url === '' ? (
            '–'
          ) : (
            <>
              <Badge variant="default" size="sm">
                {entry.method}
              </Badge>{' '}
              <Code>{entry.url}</Code>
            </>
          )}
        </Fact>
        <Fact name={say('audit.status')}>
          <StatusBadge status={entry.status} />
        </Fact>
        <Fact name={say('audit.ip')}>{entry.ip || '–'}</Fact>
        <Fact name={say('audit.requestId')}>{entry.req_id === '' ? '–' : <CopyText value={entry.req_id} />}</Fact>
      </SimpleGrid>
    </Paper>
  )
}

const DID = { made: 'teal', changed: 'blue', deleted: 'red' } as const

function Change({ change: { kind, id, before, after } }: { readonly change: AuditChange }) {
  const did = before === null ? 'made' : after === null ? 'deleted' : 'changed'
  const word = { made: say('audit.created'), changed: say('audit.updated'), deleted: say('audit.deleted') }[did]
  return (
    <Paper withBorder p="md">
      <Group gap="xs" mb="sm">
        <Badge variant="light" color={DID[did]}>
          {word}
        </Badge>
        <Text fw={600} span>
          {kind}
        </Text>
        <CopyText value={id} />
      </Group>
      <JsonDifference label={say('audit.difference', { kind, id })} before={before} after={after} />
    </Paper>
  )
}

function Dump({ title, text }: { readonly title: string; readonly text: string }) {
  if (text === '') return null
  return (
    <Box>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <Code block className="wrap-anywhere" mah={400} style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }} tabIndex={0}>
        {text}
      </Code>
    </Box>
  )
}

function detailOf({ detail }: AuditEntry): string {
  return detail === undefined || Object.keys(detail).length === 0 ? '' : JSON.stringify(detail, undefined, 2)
}
