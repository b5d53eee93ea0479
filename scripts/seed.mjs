// Where the random inputs of property tests begin.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './setup.mjs'

/**
 * A number derived from the content of `src`: the same sources are tested with the same inputs on every machine, so that a run
 * that fails can be repeated and one that passed passes again; each change of them brings other inputs.
 */
export function seedOfSources(folder = join(ROOT, 'src')) {
  const hash = createHash('sha256')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath))
    if (entry.isFile()) hash.update(readFileSync(join(entry.parentPath, entry.name)))
  return hash.digest().readInt32BE()
}

function byPath(a, b) {
  const [one, other] = [join(a.parentPath, a.name), join(b.parentPath, b.name)]
  return one < other ? -1 : Number(one > other)
}
