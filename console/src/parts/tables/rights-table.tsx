import { Anchor, Code, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ShieldOffIcon } from 'lucide-react'
import type { Limits, Right, Rights } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { say } from '../../texts/say.ts'
import { Empty } from '../display/empty.tsx'
import { QuotaGauge } from '../display/quota-gauge.tsx'
import { count } from '../display/when.tsx'
import { eachText } from '../forms/limit-inputs.tsx'
import { type Column, DataTable } from './data-table.tsx'

/** Rights as they are in force: at each API what may be called, how fast, and how much is left. */
export function RightsTable(props: {
  readonly rights: Rights
  readonly label: string
  /** Nothing is used up yet: quotas show as what they will be. */
  readonly isPlan?: boolean
}) {
  const { rights, label, isPlan = false } = props
  const mayOpen = useMay('apis')
  return (
    <DataTable
      label={label}
      columns={columnsOf(mayOpen, isPlan)}
      rows={Object.values(rights)}
      rowKey={({ api_id }) => api_id}
      empty={<Empty icon={ShieldOffIcon} title={say('keys.appliedNone')} hint={say('keys.appliedNoneHint')} />}
    />
  )
}

function columnsOf(mayOpen: boolean, isPlan: boolean): readonly Column<Right>[] {
  return [
    {
      name: 'api',
      title: say('keys.api'),
      cell: ({ api_id, api_name }) =>
        mayOpen ? (
          <Anchor component={Link} to={`/apis/${encodeURIComponent(api_id)}`} size="sm" dir="auto">
            {api_name || api_id}
          </Anchor>
        ) : (
          api_name || api_id
        ),
    },
    { name: 'calls', title: say('keys.mayCall'), cell: (right) => <Calls right={right} /> },
    { name: 'rate', title: say('keys.rateShort'), width: '28%', cell: ({ limit }) => rateText(limit ?? {}) },
    {
      name: 'quota',
      title: say('keys.quota'),
      width: 170,
      wideOnly: true,
      cell: ({ limit }) => (isPlan ? quotaText(limit ?? {}) : <QuotaGauge limits={limit ?? {}} />),
    },
  ]
}

function Calls({ right }: { readonly right: Right }) {
  const urls = right.allowed_urls ?? []
  const versions = (right.versions ?? []).filter((name) => name !== 'Default')
  return (
    <Stack gap={4} align="flex-start">
      {urls.length === 0 ? (
        <Text size="sm">{say('keys.everything')}</Text>
      ) : (
        urls.map(({ url, methods }) => (
          <Code key={`${methods} ${url}`}>
            {methods.length === 0 ? say('keys.noMethod') : methods.join(', ')} {url}
          </Code>
        ))
      )}
      {versions.length > 0 && (
        <Text size="xs" c="dimmed">
          {say('keys.versions')}: {versions.join(', ')}
        </Text>
      )}
    </Stack>
  )
}

/** How many requests in which time. */
export function rateText({ rate = 0, per = 0 }: Limits): string {
  return rate > 0 && per > 0 ? say('keys.rateText', { rate: count(rate), time: eachText(per) }) : say('keys.noLimit')
}

/** Requests until it renews. */
export function quotaText({ quota_max: max = 0, quota_renewal_rate: renewal = 0 }: Limits): string {
  if (max <= 0) return say('keys.unlimited')
  return renewal > 0 ? say('keys.quotaText', { max: count(max), time: eachText(renewal) }) : count(max)
}
