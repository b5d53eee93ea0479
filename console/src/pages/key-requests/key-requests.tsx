import { Button, SegmentedControl, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TicketIcon } from 'lucide-react'
import { KEY_REQUESTS_KEY, listKeyRequests } from '../../api/portal/key-requests.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { Pager } from '../../parts/tables/pager.tsx'
import { say } from '../../texts/say.ts'
import { RequestTable } from './request-table.tsx'

const ABSENT = { state: 'waiting', page: '1' }
const WIRE: Readonly<Record<string, string>> = { waiting: 'false', approved: 'true', all: '' }
const AGAIN_MS = 30_000

/** Requests for keys, those that wait first. */
export default function KeyRequests() {
  return (
    <Guarded permission="portal" title={say('shell.keyRequests')}>
      <List />
    </Guarded>
  )
}

function List() {
  const [{ state, page }, setAddress] = useAddress(ABSENT)
  const { data, error, refetch } = useQuery({
    queryKey: [...KEY_REQUESTS_KEY, 'list', state, page],
    queryFn: ({ signal }) => listKeyRequests({ p: page, approved: WIRE[state] ?? '' }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  })
  return (
    <>
      <PageHead title={say('shell.keyRequests')} hint={say('portal.requestsHint')} />
      <Stack gap="sm" align="stretch">
        <SegmentedControl
          aria-label={say('portal.whichRequests')}
          value={state}
          onChange={(to) => setAddress({ state: to, page: '' })}
          data={[
            { value: 'waiting', label: say('portal.waiting') },
            { value: 'approved', label: say('portal.approved') },
            { value: 'all', label: say('portal.all') },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
        <RequestTable rows={data?.Data} error={error} retry={refetch} empty={<None state={state} />} />
        <Pager page={Number(page)} pages={data?.Pages ?? 1} onPage={(to) => setAddress({ page: String(to) })} />
      </Stack>
    </>
  )
}

function None({ state }: { readonly state: string }) {
  const title = say(state === 'waiting' ? 'portal.nobodyWaits' : 'portal.noRequests')
  return (
    <Empty icon={TicketIcon} title={title} hint={say('portal.noRequestsHint')}>
      <Button variant="default" component={Link} to="/portal-settings?tab=requests" mt="sm">
        {say('portal.toApproval')}
      </Button>
    </Empty>
  )
}
