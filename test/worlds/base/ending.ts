import type { TestContext } from 'node:test'

const acts = new WeakMap<TestContext, (() => Promise<void>)[]>()

/** Has something done at the end of a test before its servers are stopped: `after` runs in the order in which it was asked for. */
export function beforeServersStop(t: TestContext, act: () => Promise<void>): void {
  acts.set(t, [...(acts.get(t) ?? []), act])
}

/** To be called before a server of the test is stopped. */
export async function leaveServers(t: TestContext): Promise<void> {
  const all = acts.get(t) ?? []
  acts.delete(t)
  for (const act of all) await act()
}
