import { Box } from '@mantine/core'
import { bucketStart, type UsageRow } from '../../api/traffic/analytics.ts'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

const HOUR_MS = 3_600_000
const HEIGHT = 72
const BAR = 10
const GAP = 3
const HOURS = 24
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** Requests of each of the last hours, those that failed in red: small enough to come with the first page. */
export function Hours({ rows }: { readonly rows: readonly UsageRow[] }) {
  const now = Math.floor(Date.now() / HOUR_MS)
  const byHour = new Map(rows.map((row) => [Math.floor(bucketStart(row) / HOUR_MS), row]))
  const bars = Array.from({ length: HOURS }, (_, i) => ({ hour: now - HOURS + 1 + i }))
  const most = Math.max(1, ...rows.map(({ hits }) => hits))
  const px = (hits: number) => (hits === 0 ? 0 : Math.max(2, (hits / most) * HEIGHT))
  return (
    <Box>
      <svg
        viewBox={`0 0 ${HOURS * (BAR + GAP)} ${HEIGHT}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        role="img"
        aria-label={say('start.hoursLabel', { most: count(most) })}
      >
        {bars.map(({ hour }, i) => {
          const { hits = 0, error = 0 } = byHour.get(hour) ?? {}
          return (
            <g key={hour}>
              <title>
                {say('start.hourTitle', {
                  time: CLOCK.format(hour * HOUR_MS),
                  hits: count(hits),
                  errors: count(error),
                })}
              </title>
              <rect x={i * (BAR + GAP)} y={0} width={BAR} height={HEIGHT} fill="var(--mantine-color-default-hover)" />
              <rect
                x={i * (BAR + GAP)}
                y={HEIGHT - px(hits)}
                width={BAR}
                height={px(hits)}
                fill="var(--mantine-color-gate-5)"
              />
              <rect
                x={i * (BAR + GAP)}
                y={HEIGHT - px(error)}
                width={BAR}
                height={px(error)}
                fill="var(--mantine-color-red-6)"
              />
            </g>
          )
        })}
      </svg>
    </Box>
  )
}
