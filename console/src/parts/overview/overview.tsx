import { Anchor, Card, Grid, List, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../../api/people/session.ts'
import { AUDIT_KEY, listHistory } from '../../api/platform/audit.ts'
import { readBreakdown, readTotal, USAGE_KEY, type UsageRow } from '../../api/traffic/analytics.ts'
import { type Callers, callersIn } from '../../api/traffic/callers.ts'
import { NO_FILTERS, type UsageFilters } from '../../api/traffic/dimensions.ts'
import { lastHours } from '../../api/traffic/home.ts'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import { Figure } from '../display/figure.tsx'
import { count, duration, shortCount, When } from '../display/when.tsx'
import { ChangeSentence } from '../history/change-sentence.tsx'

/** One more thing to do with an object that nobody has called yet. */
export interface NextStep {
  readonly label: string
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

interface Props {
  /** As the audit log names its kind, and calls the object; keys by their hash. */
  readonly kind: string
  readonly id: string
  /** The requests that are about it; none for objects without traffic. */
  readonly traffic?: Partial<UsageFilters>
  /** Counts callers too: of what several call. */
  readonly hasCallers?: boolean
  /** Limits in force, and other facts, each a line. */
  readonly facts: readonly { readonly name: string; readonly value: ReactNode }[]
  readonly next?: readonly NextStep[]
  /** Where requests are made to count, for an object whose requests do not. */
  readonly uncounted?: NextStep | undefined
}

/** The state of one object: its traffic, limits in force, latest changes, and what to do next while nobody calls it. */
export function Overview({ kind, id, traffic, hasCallers = false, facts, next = [], uncounted }: Props) {
  const mayAnalytics = useMay('analytics')
  const maySeeHistory = useMay('audit_logs')
  return (
    <Grid gap="md">
      {traffic !== undefined && mayAnalytics && (
        <Grid.Col span={12}>
          <ObjectTraffic {...{ traffic, hasCallers, next, uncounted }} />
        </Grid.Col>
      )}
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Part title={say('overview.facts')}>
          <Stack component="dl" gap="sm" m={0}>
            {facts.map(({ name, value }) => (
              <div key={name}>
                <Text size="xs" c="dimmed" component="dt">
                  {name}
                </Text>
                <Text size="sm" component="dd" m={0} className="wrap-anywhere">
                  {value}
                </Text>
              </div>
            ))}
          </Stack>
        </Part>
      </Grid.Col>
      {maySeeHistory && (
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Changes kind={kind} id={id} />
        </Grid.Col>
      )}
    </Grid>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Card withBorder padding="lg" component="section" aria-label={title} h="100%">
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Card>
  )
}

const HOURS = 24
const AGAIN_MS = 30_000
const GRAVE_SHARE = 0.05
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

/** The traffic of an object in the last 24 hours. */
export function ObjectTraffic(
  props: Pick<Props, 'hasCallers' | 'next' | 'uncounted'> & { readonly traffic: Partial<UsageFilters> },
) {
  const { traffic, hasCallers = false, next = [], uncounted } = props
  const filters = { ...NO_FILTERS, ...traffic }
  const { data, error, refetch } = useQuery({
    queryKey: [...USAGE_KEY, 'overview', filters],
    queryFn: async ({ signal }) => {
      const span = lastHours(HOURS)
      const sorted = { by: 'hits', descending: true, page: 1 }
      const [total, callers] = await Promise.all([
        readTotal(span, filters, signal),
        hasCallers ? readBreakdown('key', span, filters, sorted, signal) : undefined,
      ])
      return { total, callers: callers && callersIn(callers) }
    },
    refetchInterval: AGAIN_MS,
  })
  return (
    <Part title={say('overview.traffic')}>
      {data === undefined ? (
        error === null ? (
          <Skeleton h={80} />
        ) : (
          <FaultBox error={error} retry={() => void refetch()} />
        )
      ) : (
        <>
          <Numbers {...data} />
          {uncounted !== undefined && (
            <Text size="sm" mt="md">
              {say('overview.uncounted')} <StepLink step={uncounted} />
            </Text>
          )}
          {data.total === null && next.length > 0 && <NextSteps steps={next} />}
        </>
      )}
    </Part>
  )
}

function Numbers(props: { readonly total: UsageRow | null; readonly callers: Callers | undefined }) {
  const { total, callers } = props
  const share = total === null ? 0 : total.error / Math.max(1, total.hits)
  return (
    <SimpleGrid cols={{ base: 1, xs: callers === undefined ? 3 : 4 }}>
      <Figure
        name={say('overview.requests')}
        value={shortCount(total?.hits ?? 0)}
        note={say('overview.perHour', { rate: perHour(total?.hits ?? 0) })}
      />
      <Figure
        name={say('overview.errors')}
        value={PERCENT.format(share)}
        note={errorsText(total?.error ?? 0)}
        isBad={share > GRAVE_SHARE}
      />
      <Figure name={say('overview.p95')} value={total === null ? '–' : duration(total.p95)} note="" />
      {callers !== undefined && (
        <Figure
          name={say('overview.callers')}
          value={callers.pages > 1 ? `> ${count((callers.pages - 1) * callers.shown)}` : count(callers.shown)}
          note={say('overview.callersNote')}
        />
      )}
    </SimpleGrid>
  )
}

const RATE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

function perHour(requests: number): string {
  return RATE.format(requests / HOURS)
}

function errorsText(errors: number): string {
  return errors === 1 ? say('overview.errorsOne') : say('overview.errorsOf', { count: count(errors) })
}

function NextSteps({ steps }: { readonly steps: readonly NextStep[] }) {
  return (
    <Stack gap={4} mt="md">
      <Text size="sm">{say('overview.next')}</Text>
      <List size="sm">
        {steps.map((step) => (
          <List.Item key={step.label}>
            <StepLink step={step} />
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

function StepLink({ step: { label, to, search } }: { readonly step: NextStep }) {
  return (
    <Anchor component={Link} to={to as '/'} search={(search ?? {}) as never} size="sm" underline="always">
      {label}
    </Anchor>
  )
}

const MOST_CHANGES = 3

function Changes({ kind, id }: Pick<Props, 'kind' | 'id'>) {
  const { data, error, refetch } = useQuery({
    queryKey: [...AUDIT_KEY, 'of', kind, id, 1],
    queryFn: ({ signal }) => listHistory(kind, id, 1, signal),
  })
  return (
    <Part title={say('overview.changes')}>
      {data === undefined ? (
        error === null ? (
          <Skeleton h={80} />
        ) : (
          <FaultBox error={error} retry={() => void refetch()} />
        )
      ) : (
        <Stack gap="sm">
          {data.audit_logs.length === 0 && (
            <Text size="sm" c="dimmed">
              {say('history.empty')}
            </Text>
          )}
          {data.audit_logs.slice(0, MOST_CHANGES).map((entry) => (
            <div key={entry._id}>
              <ChangeSentence entry={entry} kind={kind} />
              <Text size="xs" c="dimmed">
                <When at={entry.timestamp} />
              </Text>
            </div>
          ))}
        </Stack>
      )}
    </Part>
  )
}
