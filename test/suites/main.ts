// node scripts/run.mjs test/suites/main.ts [--write] [SUITE ...]: runs the suites in front of Gatehouse, nginx and HAProxy, and names the cases
// that fail. `--write`: puts the counts into docs/reference/protocols.md; all suites then run.
// The last line is `N passed, N failed`, of Gatehouse.
import { PROXIES, type ProxyName } from './proxies.ts'
import type { Suite } from './suite.ts'
import { rowsOf, SUITES, writeTable } from './table.ts'

const words = process.argv.slice(2)
const named = words.filter((word) => word !== '--write').map((word) => word.toLowerCase())
const known = SUITES.map(({ name }) => name.toLowerCase())
const unknown = named.filter((word) => !known.includes(word))
if (unknown.length > 0) {
  console.error(`no suite ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exit(2)
}
const write = words.includes('--write')
const chosen = SUITES.filter(({ name }) => write || named.length === 0 || named.includes(name.toLowerCase()))

const failures: Record<ProxyName, Map<Suite, ReadonlyMap<string, string>>> = {
  Gatehouse: new Map(),
  nginx: new Map(),
  HAProxy: new Map(),
}
for (const proxy of PROXIES) {
  for (const suite of chosen) failures[proxy].set(suite, await suite.play(proxy, (line) => console.log(line)))
}
if (write) writeTable(failures)
for (const { suite, section, counts } of rowsOf(failures)) {
  const told = Object.entries(counts).map(([proxy, count]) => `${proxy} ${count}`)
  if (told.length > 0) console.log(`${suite}, ${section}: ${told.join(', ')}`)
}
const failed = [...failures.Gatehouse.values()].reduce((sum, each) => sum + each.size, 0)
const all = chosen.reduce((sum, { cases }) => sum + cases.length, 0)
console.log(`${all - failed} passed, ${failed} failed`)
process.exit(0)
