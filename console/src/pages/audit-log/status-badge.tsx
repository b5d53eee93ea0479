import { Badge } from '@mantine/core'
import { say } from '../../texts/say.ts'

/** The status of a call; 0 where no call brought it about. */
export function StatusBadge({ status }: { readonly status: number }) {
  if (status === 0) return <>–</>
  const isRefused = status >= 400
  return (
    <Badge variant="light" color={isRefused ? 'red' : 'teal'}>
      {isRefused ? `${status} ${say('audit.refused')}` : status}
    </Badge>
  )
}
