import { type Json, numberIn, objectIn } from './dashboard.ts'
import { type Html, html } from './html.ts'

/** Requests of one day, UTC. */
export interface Day {
  /** `yyyy-mm-dd` */
  readonly date: string
  readonly good: number
  readonly failed: number
}

const DAY_MS = 86_400_000
const [WIDTH, HEIGHT] = [720, 260]
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 8, 14, 44]
const LABELS = 6

/** The last `count` days until today, as the calls of analytics write them: `d/m/yyyy/d/m/yyyy`. */
export function lastDays(count: number, now = Date.now()): string {
  const written = (at: number) => {
    const date = new Date(at)
    return `${date.getUTCDate()}/${date.getUTCMonth() + 1}/${date.getUTCFullYear()}`
  }
  return `${written(now - (count - 1) * DAY_MS)}/${written(now)}`
}

/** One entry for each of the last days, also for those without requests. */
export function daysOf(rows: readonly Json[], count: number, now = Date.now()): Day[] {
  const found = new Map<string, Day>()
  for (const row of rows) {
    const id = objectIn(row, 'id')
    const at = Date.UTC(numberIn(id, 'year', 0), numberIn(id, 'month', 1) - 1, numberIn(id, 'day', 1))
    const date = isoDay(at)
    const before = found.get(date)
    found.set(date, {
      date,
      good: (before?.good ?? 0) + numberIn(row, 'success', 0),
      failed: (before?.failed ?? 0) + numberIn(row, 'error', 0),
    })
  }
  return Array.from({ length: count }, (_, i) => {
    const date = isoDay(now - (count - 1 - i) * DAY_MS)
    return found.get(date) ?? { date, good: 0, failed: 0 }
  })
}

/** Requests by day as a picture, with the same numbers as a table for those who cannot see it. */
export function usageChart(days: readonly Day[], about: string): Html {
  const top = roundUp(Math.max(4, ...days.map(({ good, failed }) => good + failed)))
  const [good, failed] = [sumOf(days, 'good'), sumOf(days, 'failed')]
  const lines = [0, 0.25, 0.5, 0.75, 1].map((share) => gridLine(share, top))
  const told = `${about}: ${numbered(good)} served and ${numbered(failed)} refused or failed in ${days.length} days`
  return html`<figure class="chart">
<dl class="totals"><div><dt>Served</dt><dd>${numbered(good)}</dd></div>
<div class="failed"><dt>Refused or failed</dt><dd>${numbered(failed)}</dd></div></dl>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${told}">
${lines}
${days.map((day, i) => bar(day, i, days.length, top))}
${days.map((day, i) => dayLabel(day, i, days.length))}
</svg>
<details><summary>As a table</summary>
<div class="scroll" tabindex="0"><table><caption>${about}</caption>
<thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="number">Served</th><th scope="col" class="number">Refused or failed</th></tr></thead>
<tbody>${[...days].reverse().map((day) => html`<tr><th scope="row">${day.date}</th><td class="number">${numbered(day.good)}</td><td class="number">${numbered(day.failed)}</td></tr>`)}</tbody>
</table></div></details>
</figure>`
}

function bar({ date, good, failed }: Day, at: number, count: number, top: number): Html {
  const slot = (WIDTH - LEFT - RIGHT) / count
  const width = Math.max(1, Math.min(28, slot * 0.7))
  const x = fixed(LEFT + slot * at + (slot - width) / 2)
  const [goodHeight, failedHeight] = [heightOf(good, top), heightOf(failed, top)]
  const base = HEIGHT - BOTTOM
  return html`<g><title>${date}: ${numbered(good)} served, ${numbered(failed)} refused or failed</title>
<rect class="good" x="${x}" y="${fixed(base - goodHeight)}" width="${fixed(width)}" height="${fixed(goodHeight)}"/>
<rect class="failed" x="${x}" y="${fixed(base - goodHeight - failedHeight)}" width="${fixed(width)}" height="${fixed(failedHeight)}"/></g>`
}

function gridLine(share: number, top: number): Html {
  const y = fixed(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM))
  return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>
<text class="label" x="${LEFT - 6}" y="${y}" dy="0.32em" text-anchor="end">${shortened(share * top)}</text>`
}

function dayLabel({ date }: Day, at: number, count: number): Html {
  if (at % Math.ceil(count / LABELS) !== 0) return html``
  const slot = (WIDTH - LEFT - RIGHT) / count
  const written = new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', {
    ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
  })
  return html`<text class="label" x="${fixed(LEFT + slot * (at + 0.5))}" y="${HEIGHT - 12}" text-anchor="middle">${written}</text>`
}

/** The next number that four lines divide evenly. */
function roundUp(number: number): number {
  const unit = 10 ** Math.floor(Math.log10(number))
  const steps = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12].map((step) => Math.round(step * unit))
  return steps.find((step) => step >= number && step % 4 === 0) ?? 20 * unit
}

const heightOf = (number: number, top: number) => (number / top) * (HEIGHT - TOP - BOTTOM)
const fixed = (number: number) => String(Math.round(number * 100) / 100)
const sumOf = (days: readonly Day[], what: 'good' | 'failed') => days.reduce((sum, day) => sum + day[what], 0)
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10)
const numbered = (number: number) => number.toLocaleString('en-GB')
const shortened = (number: number) => (number >= 1000 ? `${Math.round(number / 100) / 10}k` : String(number))
