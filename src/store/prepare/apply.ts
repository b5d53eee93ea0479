import type { PreparedChange } from './prepare.ts'

/** What an adapter does for each sort of change; `place` is whatever it needs besides. */
export type Appliers<Place> = {
  readonly [Op in PreparedChange['op']]: (change: Extract<PreparedChange, { op: Op }>, place: Place) => void
}

/** Does what the table says for a change. @throws Fault of the change */
export function applyChange<Place>(appliers: Appliers<Place>, change: PreparedChange, place: Place): void {
  const apply = appliers[change.op] as (change: PreparedChange, place: Place) => void
  apply(change, place)
}
