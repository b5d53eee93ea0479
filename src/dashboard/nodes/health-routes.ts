import { type TSchema, Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { asJson } from '../../model/json/json.ts'
import { healthDetails, overallStatus } from '../../model/nodes/health.ts'
import { isEmbedded } from '../../model/nodes/node.ts'
import { mayDo } from '../../model/people/permission.ts'
import { healthOf, refusalOf } from '../../publish/nodes/health.ts'
import { bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import { moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const DESCRIPTION = 'Gatehouse dashboard'
const Ready = Type.Object(
  {
    status: Type.String({ description: '`ok` where all parts pass, else `warn` or `fail`.' }),
    version: Type.String({ description: 'Version of the product.' }),
    description: Type.String({ description: 'Name of the product.' }),
  },
  { title: 'Readiness' },
)
const Detail = Type.Object(
  {
    status: Type.Enum(['pass', 'warn', 'fail'], {
      description: '`pass`: healthy. `warn`: works, and an operator should look at it. `fail`: does not do its work.',
    }),
    componentType: Type.Enum(['datastore', 'system'], {
      description: '`datastore`, or `system` for what belongs to the machine or the process.',
    }),
    time: moment('Time of the answer (RFC 3339).'),
    output: Type.Optional(Type.String({ description: 'Why the part does not pass.' })),
    observedValue: Type.Optional(
      Type.Number({ description: 'Value that was measured. For callers who may read the system.' }),
    ),
    observedUnit: Type.Optional(Type.String({ description: 'Unit of `observedValue`: `s` or `bytes`.' })),
  },
  { title: 'HealthDetail' },
)
const Health = Type.Object(
  {
    ...Ready.properties,
    details: Type.Record(Type.String(), Detail, {
      description: 'The state of each part by its name, such as `store` or `disk`.',
    }),
  },
  { title: 'Health' },
)

/** The health of the dashboard and of what it depends on: `/hello`, and `/health` for those who look there; whether it takes new work: `/ready`. */
export function healthRoutes(parts: DashboardParts): Route[] {
  const { clock, config, store, version } = parts
  const look = async () => {
    const all = await healthOf(store)
    const refused = refusalOf(all, { clustered: !isEmbedded(config.storage), role: 'dashboard' })
    const status = overallStatus(all, refused !== undefined)
    return { all, refused, status: status === 'pass' ? 'ok' : status }
  }
  const route = (path: string, answer: TSchema, summary: string, run: Route['run']): Route => ({
    ...{ method: 'GET', path, access: 'public', scraped: true, summary, answers: { 200: answer }, run },
  })
  const hello = async ({ installation, actor }: Call) => {
    const withValues = installation || (actor !== undefined && mayDo(actor.permissions, 'system', 'read'))
    const { all, status } = await look()
    const details = healthDetails(all, new Date(clock.wall()).toISOString(), withValues)
    return bare(asJson({ status, version, description: DESCRIPTION, details }))
  }
  const ready = async () => {
    if (parts.draining?.() === true) throw fault('draining')
    const { refused, status } = await look()
    if (refused !== undefined) throw fault(refused)
    return bare({ status, version, description: DESCRIPTION })
  }
  return [
    route('/hello', Health, 'Check the health of the dashboard and of what it depends on', hello),
    route('/health', Health, 'Check the health of the dashboard and of what it depends on', hello),
    route(
      '/ready',
      Ready,
      'Check whether the dashboard takes new work; 503 while it drains, or cannot read its store',
      ready,
    ),
  ]
}
