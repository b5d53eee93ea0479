import type { SystemView } from '../../../src/config/usable-cores.ts'

const PLENTY = 2 ** 40

/** A system without files that say how much of it may be used, or with these. */
export function bareSystem({
  cores = 2,
  memory = PLENTY,
  files = {},
}: {
  readonly cores?: number
  readonly memory?: number
  readonly files?: Readonly<Record<string, string>>
}): SystemView {
  return { read: (path) => files[path], parallelism: () => cores, memory: () => memory }
}
