import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiView, apiKey } from '../../../api/apis/apis.ts'
import { readSyncStatus } from '../../../api/platform/nodes.ts'
import { type NextStep, Overview } from '../../../parts/overview/overview.tsx'
import { rateText } from '../../../parts/tables/rights-table.tsx'
import { say } from '../../../texts/say.ts'
import { methodOf, proofsOf } from '../authentication/authentication-methods.ts'
import { schemeForm } from '../authentication/schemes.ts'
import { EXTENSION, objectAt } from '../editor/tree.ts'
import { authWord, upstreamOf } from '../list/api-labels.ts'

const POLL_MS = 5000

/** The state of an API: its traffic, where it is loaded, limits of all callers together, and its latest changes. */
export default function OverviewTab({ api }: { readonly api: ApiView }) {
  const { data: status } = useQuery({
    queryKey: [...apiKey(api.id), 'nodes'],
    queryFn: ({ signal }) => readSyncStatus(api.id, signal),
    refetchInterval: POLL_MS,
  })
  const nodes = status?.nodes.filter(({ state }) => state !== 'elsewhere')
  const loaded = nodes?.filter(({ state }) => state === 'loaded').length
  return (
    <Overview
      kind="api"
      id={api.id}
      traffic={{ api: api.id }}
      hasCallers
      next={stepsOf(api)}
      uncounted={
        isCounted(api) ? undefined : { label: say('overview.count'), to: at(api), search: { tab: 'settings' } }
      }
      facts={[
        { name: say('overview.state'), value: say(api.active ? 'overview.active' : 'overview.inactive') },
        {
          name: say('overview.loaded'),
          value: (
            <Anchor
              component={Link}
              to={at(api) as '/'}
              search={{ tab: 'nodes' } as never}
              size="sm"
              underline="always"
            >
              {nodes === undefined ? '…' : say('overview.loadedOf', { loaded: loaded ?? 0, total: nodes.length })}
            </Anchor>
          ),
        },
        { name: say('overview.authentication'), value: authenticationOf(api) },
        { name: say('overview.rateAll'), value: rateText(limitOf(api)) },
        { name: say('overview.upstream'), value: upstreamOf(api) },
      ]}
    />
  )
}

const at = ({ id }: ApiView) => `/apis/${encodeURIComponent(id)}`

/** True where requests are recorded, and so counted. */
function isCounted({ isOas, definition, classic }: ApiView): boolean {
  if (!isOas) return classic.do_not_track !== true
  return objectAt(definition, [EXTENSION, 'middleware', 'global', 'trafficLogs']).enabled === true
}

function authenticationOf({ classic }: ApiView): string {
  const method = methodOf(classic)
  if (method === 'keyless' || method === 'other') return say(`apis.authMethod.${method}`)
  return proofsOf(classic)
    .map((proof) => authWord(schemeForm(proof).config))
    .join(', ')
}

function limitOf({ classic }: ApiView): { readonly rate: number; readonly per: number } {
  const { rate = 0, per = 0, disabled = false } = objectAt(classic, ['global_rate_limit'])
  return disabled === true ? { rate: 0, per: 0 } : { rate: Number(rate), per: Number(per) }
}

function stepsOf(api: ApiView): readonly NextStep[] {
  const proofs = proofsOf(api.classic)
  return [
    { label: say('overview.limitIt'), to: at(api), search: { tab: 'settings' } },
    ...(proofs.includes('token')
      ? [{ label: say('overview.createKey'), to: '/keys/new', search: { api: api.id } }]
      : []),
    ...(proofs.includes('oauth')
      ? [{ label: say('overview.registerClient'), to: at(api), search: { tab: 'clients', view: 'new' } }]
      : []),
    { label: say('overview.tryIt'), to: at(api), search: { tab: 'try' } },
  ]
}
