import { type ReactNode, useState } from 'react'
import { say } from '../../texts/say.ts'
import { notifyDone } from '../display/notify.ts'
import { useGuardedSave } from '../forms/conflict.tsx'

/** Something that is edited in a form, and that another may edit meanwhile. */
export interface Edited<Thing> {
  readonly loaded: Thing
  /** Changes when the form must restart with the value that another user has saved. */
  readonly round: number
  readonly save: (mine: Thing, write: (thing: Thing) => Promise<unknown>) => Promise<void>
  /** Must be rendered on the page: it asks who wins. */
  readonly dialog: ReactNode
}

/** Keeps what was loaded when editing began, and looks before saving whether it is still so. */
export function useEdited<Thing>(first: Thing, read: () => Promise<Thing>): Edited<Thing> {
  const [{ loaded, round }, setState] = useState({ loaded: first, round: 0 })
  const guarded = useGuardedSave()
  const save: Edited<Thing>['save'] = async (mine, write) => {
    const end = await guarded.save({ loaded, mine, read, write })
    if (end.outcome === 'theirs') return setState({ loaded: end.theirs, round: round + 1 })
    notifyDone(say('part.saved'))
    // The saved value is known well enough when it cannot be read back.
    const stored = await read().catch(() => mine)
    setState({ loaded: stored, round })
  }
  return { loaded, round, save, dialog: guarded.dialog }
}
