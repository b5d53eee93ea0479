import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  type BrowserSession,
  endAllSessions,
  endSession,
  listSessions,
  SESSIONS_KEY,
} from '../../api/people/profile.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { When } from '../../parts/display/when.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { browserOf } from './browser-name.ts'
import { Section } from './section.tsx'

/** Where one is signed in. */
export function Sessions() {
  const client = useQueryClient()
  const sessions = useQuery({ queryKey: SESSIONS_KEY, queryFn: listSessions })
  const others = sessions.data?.filter(({ current }) => !current) ?? []
  const again = () => client.invalidateQueries({ queryKey: SESSIONS_KEY })
  const ending = useMutation({
    mutationFn: ({ id }: BrowserSession) => endSession(id),
    onSuccess: () => notifyDone(say('profile.ended')),
    onSettled: again,
  })
  const endingOthers = useMutation({
    mutationFn: async () => {
      for (const { id } of others) await endSession(id)
    },
    onSuccess: () => notifyDone(say('profile.othersEnded')),
    onSettled: again,
  })
  const endingAll = useMutation({ mutationFn: endAllSessions, onSuccess: () => window.location.assign('/') })
  return (
    <Section title={say('profile.sessions')} hint={say('profile.sessionsHint')}>
      <DataTable
        label={say('profile.sessions')}
        columns={columns((row) => ending.mutate(row), ending.isPending)}
        rows={sessions.data}
        rowKey={({ id }) => id}
        error={sessions.error}
        retry={() => void sessions.refetch()}
        empty={null}
      />
      <FaultBox error={ending.error ?? endingOthers.error ?? endingAll.error} />
      <Group>
        {others.length > 0 && (
          <Button variant="default" onClick={() => endingOthers.mutate()} loading={endingOthers.isPending}>
            {say('profile.endOthers')}
          </Button>
        )}
        <Button variant="light" color="red" onClick={() => endingAll.mutate()} loading={endingAll.isPending}>
          {say('profile.endAll')}
        </Button>
      </Group>
    </Section>
  )
}

const VIA = {
  password: 'profile.viaPassword',
  passkey: 'profile.viaPasskey',
  sso: 'profile.viaSso',
} as const

function columns(end: (row: BrowserSession) => void, isWaiting: boolean): readonly Column<BrowserSession>[] {
  return [
    {
      name: 'browser',
      title: say('profile.browser'),
      cell: ({ agent, current }) => (
        <Stack gap={4} align="flex-start">
          <Text size="sm" title={agent}>
            {browserOf(agent)}
          </Text>
          {current && <Badge variant="light">{say('profile.thisOne')}</Badge>}
        </Stack>
      ),
    },
    { name: 'address', title: say('profile.address'), cell: ({ address }) => address },
    {
      name: 'via',
      title: say('profile.via'),
      wideOnly: true,
      cell: ({ via }) => say(VIA[via as keyof typeof VIA] ?? 'profile.viaPassword'),
    },
    {
      name: 'seen',
      title: say('profile.seen'),
      wideOnly: true,
      cell: ({ last_seen_at }) => <When at={last_seen_at} />,
    },
    {
      name: 'end',
      title: say('part.actions'),
      width: 90,
      cell: (row) =>
        !row.current && (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            onClick={() => end(row)}
            disabled={isWaiting}
            aria-label={say('profile.endOne', { browser: browserOf(row.agent) })}
          >
            {say('profile.end')}
          </Button>
        ),
    },
  ]
}
