import { cpus } from 'node:os'
import { output } from './processes.ts'

/** The middle value; of two middle ones the lower. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('median of nothing')
  return middle
}

/** The value that this share (0 to 1) of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A number as people read it: thousands apart, or so many digits after the point. */
export function show(value: number, digits = 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The machine that the numbers were measured on, in one line. */
export async function machine(): Promise<string> {
  const [kernel, nginx, haproxy, wrk] = await Promise.all([
    output('uname', ['-sr']),
    output('sh', ['-c', 'nginx -v 2>&1']),
    output('haproxy', ['-v']),
    output('sh', ['-c', 'wrk -v 2>&1 | head -1; true']),
  ])
  const parts = [
    `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores`,
    kernel.trim(),
    `Node ${process.version}`,
    /nginx\/[\d.]+/.exec(nginx)?.[0] ?? 'nginx',
    `HAProxy ${/version ([\d.]+)/.exec(haproxy)?.[1] ?? ''}`,
    /wrk \S+/.exec(wrk)?.[0] ?? 'wrk',
  ]
  return parts.join(' · ')
}

/** Says on stderr what is going on, so that stdout holds the report alone. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}
