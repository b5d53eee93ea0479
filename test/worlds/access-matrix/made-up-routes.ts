import { type TSchema, Type } from 'typebox'
import { bare } from '../../../src/dashboard/routes/answer.ts'
import type { Call } from '../../../src/dashboard/routes/call.ts'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { startTestDashboard, type TestDashboard, type TestDashboardOptions } from '../dashboard/harness.ts'

export const ANY: TSchema = Type.Unknown()

/** A route for a test of the server itself: public unless said otherwise. */
export function route(own: Partial<Route> & Pick<Route, 'method' | 'path' | 'run'>): Route {
  return { access: 'public', bodyLimit: 16_777_216, summary: 'Test', answers: { 200: ANY }, ...own }
}

/** Answers what it was sent, as the call tells it. */
const echo = (call: Call) =>
  bare({
    id: call.param('id'),
    q: call.queryAll('q') as string[],
    body: call.method === 'GET' ? null : call.object(),
    from: call.clientAddress,
  })

/** `/api/things/{id}` by every method. */
export const ECHO: readonly Route[] = (['GET', 'POST', 'PUT', 'DELETE'] as const).map((method) =>
  route({ method, path: '/api/things/{id}', run: echo }),
)

/** A dashboard that closes when the test ends. */
export async function started(
  t: { after(close: () => unknown): void },
  options: TestDashboardOptions,
): Promise<TestDashboard> {
  const dashboard = await startTestDashboard(options)
  t.after(dashboard.close)
  return dashboard
}
