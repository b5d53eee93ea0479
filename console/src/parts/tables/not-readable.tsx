import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CallError } from '../../api/calls/call.ts'
import { say } from '../../texts/say.ts'
import { Empty } from '../display/empty.tsx'
import { FaultBox } from '../display/fault-box.tsx'
import { PageHead } from '../display/page-head.tsx'

/** Statuses of deleted objects and of those of others: the caller must not learn which. */
const NOT_THERE = [400, 401, 404]

/** Replaces a page about one object that could not be read. */
export function NotReadable(props: {
  readonly error: unknown
  readonly retry: () => unknown
  /** The message for a missing object. */
  readonly title: string
  /** The list of such things. */
  readonly to: string
}) {
  const { error, title } = props
  if (!(error instanceof CallError && NOT_THERE.includes(error.status)))
    return (
      <>
        <PageHead title={say('part.unread')} />
        <FaultBox error={error} retry={() => void props.retry()} />
      </>
    )
  return (
    <>
      <PageHead title={title} />
      <Empty hint={say('part.goneHint')}>
        <Button component={Link} to={props.to} variant="light">
          {say('part.toList')}
        </Button>
      </Empty>
    </>
  )
}
