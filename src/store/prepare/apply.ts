import type { PreparedChange } from './prepare.ts'

/** The handlers of an adapter for each type of change; `place` is its context. */
export type Appliers<Place> = {
  readonly [Op in PreparedChange['op']]: (change: Extract<PreparedChange, { op: Op }>, place: Place) => void
}

/** Does what the table says for a change. @throws Fault of the change */
export function applyChange<Place>(appliers: Appliers<Place>, change: PreparedChange, place: Place): void {
  const apply = appliers[change.op] as (change: PreparedChange, place: Place) => void
  apply(change, place)
}
