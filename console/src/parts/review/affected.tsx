import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KEYS_KEY, listKeys } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { readBreakdown, readTotal, USAGE_KEY } from '../../api/traffic/analytics.ts'
import { type Callers, callersIn } from '../../api/traffic/callers.ts'
import { NO_FILTERS } from '../../api/traffic/dimensions.ts'
import { lastHours } from '../../api/traffic/home.ts'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'

/** An object that others depend on, as the audit log names its kind; keys by their hash. */
export interface ReviewedObject {
  readonly kind: 'api' | 'policy' | 'session' | 'oauth_client' | 'user' | 'developer'
  /** As calls name it. */
  readonly id: string
}

const FRESH_MS = 60_000
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
/** Requests by key are counted by the hour: the last hour is in these. */
const HOURS = 2

/** The keys and callers that a change of an object affects, as far as the reader may know; nothing where there are none to name. */
export function Affected({ of: { kind, id } }: { readonly of: ReviewedObject }) {
  const [mayKeys, mayAnalytics] = [useMay('keys'), useMay('analytics')]
  const isOfKeys = kind === 'api' || kind === 'policy'
  const keys = useQuery({
    queryKey: [...KEYS_KEY, 'list', 'affected', kind, id],
    queryFn: ({ signal }) => listKeys({ q: '', p: 1, ...(kind === 'api' ? { api: id } : { policy: id }) }, signal),
    enabled: isOfKeys && mayKeys,
    staleTime: FRESH_MS,
  })
  const span = lastHours(HOURS)
  const traffic = useQuery({
    queryKey: [...USAGE_KEY, 'affected', kind, id, span.fromMs],
    queryFn: ({ signal }) => trafficOf(kind, id, span, signal),
    enabled: (kind === 'api' || kind === 'session') && mayAnalytics,
    staleTime: FRESH_MS,
  })
  const said = [
    ...(keys.data === undefined ? [] : [keysText(keys.data.keys.length, keys.data.pages)]),
    ...(traffic.data === undefined ? [] : [trafficText(traffic.data, TIME.format(span.fromMs))]),
  ]
  if (said.length === 0) return null
  return (
    <Text size="sm" c="dimmed">
      {say('review.affects')} {said.join(' · ')}
    </Text>
  )
}

interface Traffic {
  readonly requests: number
  /** Of a key there is one caller, which needs no count. */
  readonly callers?: Callers
}

async function trafficOf(
  kind: ReviewedObject['kind'],
  id: string,
  span: ReturnType<typeof lastHours>,
  signal: AbortSignal,
): Promise<Traffic> {
  const filters = { ...NO_FILTERS, ...(kind === 'api' ? { api: id } : { key: id }) }
  const requests = (await readTotal(span, filters, signal))?.hits ?? 0
  if (kind !== 'api') return { requests }
  const rows = await readBreakdown('key', span, filters, { by: 'hits', descending: true, page: 1 }, signal)
  return { requests, callers: callersIn(rows) }
}

function keysText(shown: number, pages: number): string {
  if (pages > 1) return say('review.keysOver', { count: count((pages - 1) * shown) })
  return shown === 1 ? say('review.keysOne') : say('review.keys', { count: count(shown) })
}

function trafficText({ requests, callers }: Traffic, time: string): string {
  if (requests === 0) return say('review.quiet', { time })
  const values = { requests: count(requests), time }
  if (callers === undefined || callers.shown === 0) return say('review.requests', values)
  const known = count(callers.pages > 1 ? (callers.pages - 1) * callers.shown : callers.shown)
  return say(callers.pages > 1 ? 'review.callersOver' : 'review.callers', { ...values, callers: known })
}
