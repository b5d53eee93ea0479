import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache } from './cache.ts'
import { grpc } from './grpc.ts'
import { http1 } from './http1.ts'
import { http2 } from './http2.ts'
import { PROXIES, type ProxyName, versionOf } from './proxies.ts'
import { nameOf, type Suite } from './suite.ts'
import { urls } from './urls.ts'
import { websockets } from './websockets.ts'

export const SUITES: readonly Suite[] = [http2, http1, urls, websockets, grpc, cache]

/** The page that has the table. */
const PAGE = join(import.meta.dirname, '../../docs/reference/protocols.md')
const [BEGIN, END] = [
  '<!-- Written by `npm run test:suites -- --write`. Do not edit. -->',
  '<!-- End of the table. -->',
]

/** Names of the cases that fail, by proxy and suite. */
export type Failures = Readonly<Record<ProxyName, ReadonlyMap<Suite, ReadonlyMap<string, string>>>>

/** One row: all but the counts of the proxies, then `passed of all` of each. */
export interface Row {
  readonly suite: string
  readonly section: string
  readonly counts: Readonly<Partial<Record<ProxyName, string>>>
}

/** The rows of the suites that there are; those that were not run in front of a proxy have no count of it. */
export function rowsOf(failures: Partial<Failures>): Row[] {
  return SUITES.flatMap((suite) =>
    Object.entries(suite.sections).map(([section, title]) => {
      const own = suite.cases.filter((one) => one.section === section)
      const counts = PROXIES.flatMap((proxy) => {
        const failed = failures[proxy]?.get(suite)
        const passed = own.filter((one) => failed?.has(nameOf(one)) !== true).length
        return failed === undefined ? [] : [[proxy, `${passed} of ${own.length}`]]
      })
      return { suite: suite.name, section: title, counts: Object.fromEntries(counts) }
    }),
  )
}

/** How many cases a row has. */
export function sizeOf({ suite, section }: Row): number {
  const { cases, sections } = SUITES.find(({ name }) => name === suite)!
  return cases.filter((one) => sections[one.section] === section).length
}

/** The rows of the page. @throws Error when the page has no table */
export function readTable(): Row[] {
  const [, table = ''] = split()
  const [, , ...lines] = table.trim().split('\n')
  return lines.map((line) => {
    const [suite = '', section = '', ...counts] = line.slice(2, -2).split(' | ')
    return { suite, section, counts: Object.fromEntries(PROXIES.map((proxy, i) => [proxy, counts[i] ?? ''])) }
  })
}

/** Puts the table of a whole run into the page. */
export function writeTable(failures: Failures): void {
  const [before, , after] = split()
  const head = ['suite', 'its cases', ...PROXIES.map((proxy) => `${proxy} ${versionOf(proxy)}`.trim())]
  const rows = rowsOf(failures).map(({ suite, section, counts }) => [
    suite,
    section,
    ...PROXIES.map((each) => counts[each]!),
  ])
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`)
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${lines.join('')}\n${END}${after}`)
}

function split(): [before: string, table: string, after: string] {
  const text = readFileSync(PAGE, 'utf8')
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from) throw new Error('docs/reference/protocols.md has no place for the table of suites')
  return [text.slice(0, from), text.slice(from + BEGIN.length, to), text.slice(to + END.length)]
}
