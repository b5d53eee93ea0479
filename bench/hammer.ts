import { type DashboardSize, dashboardCalls } from './dashboard-calls.ts'
import { timed } from './timed.ts'

/** The input of `bench/hammer.ts`, as JSON. */
export interface HammerOptions {
  readonly url: string
  readonly key: string
  readonly callers: number
  readonly seconds: number
  readonly size: DashboardSize
}

/** Calls everything of the dashboard in turn, many at a time, and prints what it took as JSON: `node bench/hammer.ts <options>`. */
const { url, key, callers, seconds, size } = JSON.parse(process.argv[2] ?? '') as HammerOptions
const calls = dashboardCalls(size)
const times = await timed({
  ...{ url, key, callers, count: Number.POSITIVE_INFINITY, longestMs: seconds * 1000 },
  call: (i) => ({ path: calls[i % calls.length]!.path(i) }),
})
process.stdout.write(JSON.stringify(times))
