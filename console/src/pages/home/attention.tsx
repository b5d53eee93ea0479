import { Anchor, Card, Group, Loader, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlertIcon, CircleCheckIcon, InfoIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMay } from '../../api/people/session.ts'
import { listNodes, NODES_KEY } from '../../api/platform/nodes.ts'
import { KEY_REQUESTS_KEY, listKeyRequests } from '../../api/portal/key-requests.ts'
import { listNotices } from '../../api/traffic/home.ts'
import { count, When } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

const AGAIN_MS = 30_000

/** Items that need attention: pending requests, nodes and APIs in trouble, expiring certificates. Each part by its permission. */
export function Attention() {
  const [portal, system] = [useMay('portal'), useMay('system')]
  const often = { refetchInterval: AGAIN_MS }
  const requests = useQuery({
    queryKey: [...KEY_REQUESTS_KEY, 'waiting'],
    queryFn: ({ signal }) => listKeyRequests({ p: '1', approved: 'false' }, signal),
    enabled: portal,
    ...often,
  })
  const nodes = useQuery({
    queryKey: NODES_KEY,
    queryFn: ({ signal }) => listNodes(signal),
    enabled: system,
    ...often,
  })
  const notices = useQuery({
    queryKey: ['notices'],
    queryFn: ({ signal }) => listNotices(signal),
    enabled: system,
    ...often,
  })
  const waiting = requests.data?.Data.length ?? 0
  const isMore = (requests.data?.Pages ?? 1) > 1
  const gone = nodes.data?.filter(({ active }) => !active) ?? []
  const troubled = nodes.data?.filter(({ active, troubled: number }) => active && number > 0) ?? []
  const items: ReactNode[] = [
    waiting > 0 && (
      <Item key="requests" to="/key-requests">
        {isMore ? say('start.manyWaiting', { number: count(waiting) }) : saidOf(waiting, 'start.waiting')}
      </Item>
    ),
    ...gone.map(({ id, name, last_seen }) => (
      <Item key={id} to="/nodes" isBad>
        {say('start.nodeGone', { name })} <When at={last_seen} />
      </Item>
    )),
    ...troubled.map(({ id, name, troubled: number }) => (
      <Item key={id} to="/nodes" isBad>
        {say('start.nodeTroubled', { name, number: count(number) })}
      </Item>
    )),
    ...(notices.data ?? []).map(({ id, kind, message }) => (
      <Item key={id} to="/certificates" isBad={kind === 'critical'}>
        {message}
      </Item>
    )),
  ].filter(Boolean)
  const isReading = [requests, nodes, notices].some(({ isLoading }) => isLoading)
  const up = nodes.data?.filter(({ active }) => active) ?? []
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="attention">
      <Title order={2} size="h4" id="attention" mb="sm">
        {say('start.attention')}
      </Title>
      <Stack gap="xs">
        {items}
        {isReading && <Loader size="sm" role="status" aria-label={say('part.loading')} />}
        {items.length === 0 && !isReading && (
          <Group gap="xs" wrap="nowrap">
            <CircleCheckIcon size={18} aria-hidden color="var(--mantine-color-teal-6)" />
            <Text size="sm">{say('start.nothing')}</Text>
          </Group>
        )}
        {up.length > 0 && (
          <Text size="sm" c="dimmed">
            {saidOf(up.length, 'start.nodesUp')}
          </Text>
        )}
      </Stack>
    </Card>
  )
}

function Item(props: { readonly to: string; readonly isBad?: boolean; readonly children: ReactNode }) {
  const Sign = props.isBad === true ? CircleAlertIcon : InfoIcon
  const colour = props.isBad === true ? 'var(--mantine-color-red-6)' : 'var(--mantine-color-gate-5)'
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Sign size={18} aria-hidden color={colour} style={{ flex: 'none', marginTop: 2 }} />
      <Anchor component={Link} to={props.to} size="sm" className="wrap-anywhere">
        {props.children}
      </Anchor>
    </Group>
  )
}

function saidOf(number: number, text: 'start.waiting' | 'start.nodesUp'): string {
  return number === 1 ? say(`${text}One`) : say(text, { number: count(number) })
}
