import { Anchor, Badge, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { KeyRequest } from '../../api/portal/key-requests.ts'
import { When } from '../../parts/display/when.tsx'
import { PolicyBadges, usePolicyNames } from '../../parts/portal/policy-names.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import { Answers, askedPolicies } from './request-answers.tsx'
import { RequestDecision } from './request-decision.tsx'

/** Requests for keys: who asks for what, and why. */
export function RequestTable(props: {
  readonly rows: readonly KeyRequest[] | undefined
  readonly error: unknown
  readonly retry: () => void
  /** All are of one developer, who need not be named. */
  readonly ofOne?: boolean
  readonly empty: ReactNode
}) {
  const nameOf = usePolicyNames((props.rows ?? []).flatMap(askedPolicies))
  return (
    <DataTable
      label={say('shell.keyRequests')}
      columns={columnsOf(nameOf).filter(({ name }) => name !== 'who' || props.ofOne !== true)}
      rows={props.rows}
      rowKey={({ id }) => id}
      error={props.error}
      retry={props.retry}
      empty={props.empty}
    />
  )
}

function columnsOf(nameOf: (id: string) => string): readonly Column<KeyRequest>[] {
  return [
    { name: 'who', title: say('portal.whoAsks'), width: 220, cell: (request) => <Who request={request} /> },
    {
      name: 'what',
      title: say('portal.asksFor'),
      width: 190,
      cell: (request) => <What request={request} nameOf={nameOf} />,
    },
    { name: 'why', title: say('portal.filledIn'), wideOnly: true, cell: (request) => <Answers request={request} /> },
    {
      name: 'when',
      title: say('portal.asked'),
      wideOnly: true,
      width: 130,
      cell: ({ date_created }) => <When at={date_created} />,
    },
    {
      name: 'decide',
      title: say('portal.decision'),
      width: 1,
      cell: (request) => <RequestDecision request={request} nameOf={nameOf} />,
    },
  ]
}

function Who({ request }: { readonly request: KeyRequest }) {
  const { email, fields } = request.portal_developer
  if (email === undefined)
    return (
      <Text size="sm" c="dimmed">
        {say('portal.developerUnknown')}
      </Text>
    )
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/developers/${request.by_user}`} fw={550} size="sm" dir="auto" lineClamp={2}>
        {email}
      </Anchor>
      {fields?.Name && (
        <Text size="xs" c="dimmed" dir="auto" lineClamp={1}>
          {fields.Name}
        </Text>
      )}
    </Stack>
  )
}

function What({ request, nameOf }: { readonly request: KeyRequest; readonly nameOf: (id: string) => string }) {
  const offers = request.catalogues.map(({ name }) => name).filter((name) => name !== '')
  return (
    <Stack gap={4} align="flex-start">
      {offers.length > 0 && (
        <Text size="sm" dir="auto">
          {offers.join(', ')}
        </Text>
      )}
      <PolicyBadges ids={askedPolicies(request)} nameOf={nameOf} />
      {request.oauth_info.redirect_uri !== '' && (
        <Badge variant="default" size="sm" tt="none">
          {say('portal.oauthApp')}
        </Badge>
      )}
    </Stack>
  )
}
