import { useQueryClient } from '@tanstack/react-query'
import { Undo2Icon } from 'lucide-react'
import { useState } from 'react'
import { type AuditChange, undoAuditEntry } from '../../api/platform/audit.ts'
import { say } from '../../texts/say.ts'
import { notifyDone } from '../display/notify.ts'
import { ConfirmAction } from '../forms/confirm-action.tsx'
import { GuardedButton } from '../forms/guarded.tsx'
import { useUndoRefusal } from './undo-rights.ts'

/** The button that takes a change back, after a question; it says why where the user may not. */
export function UndoEntry(props: {
  readonly id: string
  /** Documents of the entry, by their kinds. */
  readonly changes: readonly Pick<AuditChange, 'kind'>[]
  /** Why it cannot be undone, where that is known before the call. */
  readonly reason?: string | undefined
  readonly size?: 'xs' | 'sm'
}) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const lacks = useUndoRefusal(props.changes) ?? props.reason
  return (
    <>
      <GuardedButton
        permission="audit_logs"
        intent="read"
        variant="light"
        size={props.size ?? 'sm'}
        leftSection={<Undo2Icon size={16} aria-hidden />}
        onClick={() => setAsked(true)}
        {...(lacks !== undefined && { reason: lacks })}
      >
        {say('audit.undo')}
      </GuardedButton>
      <ConfirmAction
        opened={asked}
        title={say('audit.undoTitle')}
        verb={say('audit.undo')}
        run={() => undoAuditEntry(props.id)}
        onClose={() => setAsked(false)}
        onDone={async () => {
          setAsked(false)
          notifyDone(say('audit.undone'))
          // Anything may have come back.
          await client.invalidateQueries()
        }}
      >
        {say('audit.undoText')}
      </ConfirmAction>
    </>
  )
}
