import { Alert, Button, Code, Drawer, Group, Progress, Stack, Table, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { InfoIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMay } from '../../api/people/session.ts'
import type { RequestRecord } from '../../api/traffic/requests.ts'
import { CopyText } from '../../parts/display/copy.tsx'
import { count, duration, fullTime } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { readRaw } from './raw.ts'
import { Refusal } from './refusal.tsx'
import { StatusBadge } from './request-table.tsx'
import { Steps } from './steps.tsx'

interface Props {
  readonly record: RequestRecord | undefined
  /** True where the record came by itself, which is without head and body. */
  readonly isLive: boolean
  readonly onClose: () => void
}

/** One request in full. */
export function RequestDrawer({ record, isLive, onClose }: Props) {
  return (
    <Drawer
      opened={record !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={say('requests.one')}
      closeButtonProps={{ 'aria-label': say('part.close') }}
    >
      {record && (
        <Stack gap="md">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <StatusBadge status={record.ResponseCode} />
            <Text ff="monospace" size="sm" className="wrap-anywhere">
              <b>{record.Method}</b> {record.RawPath || record.Path}
            </Text>
          </Group>
          {record.ErrorCode !== '' && <Refusal record={record} onGo={onClose} />}
          <Latency {...record.Latency} />
          <Steps record={record} />
          <Ways record={record} onGo={onClose} />
          <Facts record={record} />
          <Whole record={record} isLive={isLive} />
        </Stack>
      )}
    </Drawer>
  )
}

function Latency({ Total, Upstream, Gateway = Math.max(0, Total - Upstream) }: RequestRecord['Latency']) {
  const text = say('requests.latency', {
    ...{ total: duration(Total), upstream: duration(Upstream), gateway: duration(Gateway) },
  })
  return (
    <div>
      <Text size="sm" mb={4}>
        {text}
      </Text>
      <Progress.Root size="sm" aria-hidden>
        <Progress.Section value={Total === 0 ? 0 : (Upstream / Total) * 100} color="gate" withAria={false} />
        <Progress.Section value={Total === 0 ? 0 : (Gateway / Total) * 100} color="orange" withAria={false} />
      </Progress.Root>
    </div>
  )
}

/** From here to what is like it. */
function Ways({ record, onGo }: { readonly record: RequestRecord; readonly onGo: () => void }) {
  const [mayKeys, mayApis] = [useMay('keys'), useMay('apis')]
  const { APIID: api, APIKey: key, Path: path, Method: method } = record
  const to = (text: 'requests.ofKey' | 'requests.ofPath' | 'requests.ofApi', search: Record<string, string>) => (
    <Button
      size="compact-xs"
      variant="light"
      component={Link}
      onClick={onGo}
      {...{ to: '/requests', search: { range: '24h', ...search } as never }}
    >
      {say(text)}
    </Button>
  )
  return (
    <Group gap="xs">
      {key !== '' && to('requests.ofKey', { key })}
      {to('requests.ofPath', { api, path, method })}
      {to('requests.ofApi', { api })}
      {mayApis && (
        <Button size="compact-xs" variant="subtle" component={Link} {...{ to: `/apis/${encodeURIComponent(api)}` }}>
          {say('requests.openApi')}
        </Button>
      )}
      {mayKeys && key !== '' && (
        <Button size="compact-xs" variant="subtle" component={Link} {...{ to: `/keys/${encodeURIComponent(key)}` }}>
          {say('requests.openKey')}
        </Button>
      )}
    </Group>
  )
}

const copyable = (value: string) => <CopyText value={value} />

function Facts({ record }: { readonly record: RequestRecord }) {
  const city = Object.values(record.Geo.City.Names)[0]
  const place = [city, record.Geo.Country.ISOCode].filter(Boolean).join(', ')
  const { BytesIn, BytesOut } = record.Network
  const facts: readonly (readonly [string, ReactNode])[] = [
    [say('requests.time'), fullTime(record.TimeStamp)],
    [say('requests.api'), record.APIName || record.APIID],
    [say('requests.version'), record.APIVersion],
    [say('requests.host'), record.Host],
    [say('requests.alias'), record.Alias],
    [say('requests.key'), record.APIKey === '' ? say('requests.noKey') : copyable(record.APIKey)],
    [say('requests.client'), record.OauthID && copyable(record.OauthID)],
    [say('requests.tags'), record.Tags.join(', ')],
    [say('requests.address'), record.IPAddress],
    [say('requests.place'), place],
    [say('requests.agent'), record.UserAgent],
    [say('requests.bytes'), say('requests.bytesOf', { in: count(BytesIn), out: count(BytesOut) })],
    [say('requests.id'), record.RequestID && copyable(record.RequestID)],
    [say('requests.kept'), fullTime(record.ExpireAt)],
  ]
  return (
    <Table variant="vertical" withTableBorder fz="sm">
      <Table.Tbody>
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={132}>
                {name}
              </Table.Th>
              <Table.Td className="wrap-anywhere" dir="auto" ta="left">
                {value}
              </Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  )
}

/** Heads and bodies, or how to have them. */
function Whole({ record, isLive }: { readonly record: RequestRecord; readonly isLive: boolean }) {
  const [request, response] = [readRaw(record.RawRequest), readRaw(record.RawResponse)]
  if (request === undefined && response === undefined)
    return (
      <Alert color="gray" variant="light" icon={<InfoIcon aria-hidden />} title={say('requests.notWhole')}>
        {say(isLive ? 'requests.liveNoDetail' : 'requests.notWholeHint')}
      </Alert>
    )
  const messages = [
    [say('requests.sent'), request],
    [say('requests.answered'), response],
  ] as const
  return messages.map(([title, message]) =>
    message === undefined ? null : (
      <div key={title}>
        <Title order={3} size="h6" mb={4}>
          {title}
        </Title>
        <Code block mah={320} style={{ overflow: 'auto' }} tabIndex={0} aria-label={title}>
          {message.body === '' ? message.head : `${message.head}\n\n${message.body}`}
        </Code>
      </div>
    ),
  )
}
