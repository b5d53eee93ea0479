import type { Ending, ProxyName } from './proxies.ts'

/** A case: the section that decides, what is tried, and a run that throws where the proxy does otherwise. */
export interface SuiteCase<World> {
  readonly section: string
  readonly name: string
  run(world: World): Promise<void>
}

/** A suite: a row of the table for each of its sections. */
export interface Suite {
  readonly name: string
  /** Rows in order: name of the section, and what its cases are. */
  readonly sections: Readonly<Record<string, string>>
  /** Section and name of each case. */
  readonly cases: readonly { readonly section: string; readonly name: string }[]
  /** Runs all cases in front of one proxy. Answers the failures by the name of the case. */
  play(proxy: ProxyName, note?: (line: string) => void): Promise<ReadonlyMap<string, string>>
}

/** The parts of a suite. */
export interface SuiteParts<World> {
  readonly name: string
  readonly sections: Readonly<Record<string, string>>
  readonly cases: readonly SuiteCase<World>[]
  /** Starts the upstream and the proxy in front of it. */
  open(proxy: ProxyName, ending: Ending): Promise<World>
}

/** Makes a suite. @throws Error when a case has a section without a row, or two cases have one name */
export function suiteOf<World>({ name, sections, cases, open }: SuiteParts<World>): Suite {
  const names = new Set(cases.map(nameOf))
  if (names.size !== cases.length) throw new Error(`${name}: two cases have one name`)
  const strange = cases.find(({ section }) => sections[section] === undefined)
  if (strange !== undefined) throw new Error(`${name}: no row for ${strange.section}`)
  return {
    ...{ name, sections, cases },
    async play(proxy, note = () => {}) {
      const endings: (() => unknown)[] = []
      const failures = new Map<string, string>()
      try {
        const world = await open(proxy, { after: (fn) => void endings.unshift(fn) })
        for (const one of cases) {
          const failed = await one.run(world).then(
            () => undefined,
            (error: unknown) => (error instanceof Error ? error.message : String(error)),
          )
          if (failed === undefined) continue
          failures.set(nameOf(one), failed)
          note(`${proxy}, ${name}, ${nameOf(one)}: ${failed.split('\n').slice(0, 9).join(' ')}`)
        }
      } finally {
        for (const end of endings) await end()
      }
      return failures
    },
  }
}

/** The name of a case within its suite. */
export function nameOf({ section, name }: { readonly section: string; readonly name: string }): string {
  return `${section}: ${name}`
}

/** Waits no longer than a proxy is given. @throws Error that names what did not come */
export async function patiently<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no ${what} within ${ms} ms`)), ms)
  // The loser may fail later, when its connection is closed.
  promise.catch(() => {})
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
