import { useQuery } from '@tanstack/react-query'
import { TicketIcon } from 'lucide-react'
import type { Developer } from '../../api/portal/developers.ts'
import { KEY_REQUESTS_KEY, listKeyRequests } from '../../api/portal/key-requests.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { say } from '../../texts/say.ts'
import { RequestTable } from '../key-requests/request-table.tsx'

/** The key requests of a developer. */
export function DeveloperRequests({ developer }: { readonly developer: Developer }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...KEY_REQUESTS_KEY, 'of', developer.id],
    queryFn: ({ signal }) => listKeyRequests({ p: '-1', by_user: developer.id }, signal),
  })
  return (
    <RequestTable
      rows={data?.Data}
      error={error}
      retry={refetch}
      ofOne
      empty={<Empty icon={TicketIcon} title={say('portal.askedNothing')} hint={say('portal.askedNothingHint')} />}
    />
  )
}
