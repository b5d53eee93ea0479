import { type Fault, fault } from '../../errors/fault.ts'
import type { AuditEntryState } from '../../store/ports/ports.ts'

/** @throws Fault `undo_refused` (409) naming the entry that changed a document since */
export function checkUnchangedSince(states: readonly AuditEntryState[]): void {
  const changed = states.find(({ current }) => !current)
  if (changed !== undefined) throw changedSince(changed)
}

/** The refusal of undoing what was changed since. */
export function changedSince({ kind, id, laterId }: AuditEntryState): Fault {
  const by = laterId === undefined ? 'by a change that is not recorded' : `by audit entry ${laterId}`
  return fault('undo_refused', `${kind} ${id} was changed since ${by}`)
}
