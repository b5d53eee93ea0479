import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { bare } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const Health = Type.Object({ status: Type.String(), version: Type.String(), description: Type.String() })

/** Whether the dashboard answers: `/hello`, and `/health` for those who look there; whether it takes new work: `/ready`. */
export function healthRoutes(parts: DashboardParts): Route[] {
  const run = () => bare({ status: 'ok', version: parts.version, description: 'Gatehouse dashboard' })
  const health = (path: string): Route => ({
    method: 'GET',
    path,
    access: 'public',
    summary: 'Check the health of the dashboard',
    answers: { 200: Health },
    run,
  })
  const ready: Route = {
    ...health('/ready'),
    summary: 'Check whether the dashboard takes new work; 503 while it drains',
    run() {
      if (parts.draining?.() === true) throw fault('draining')
      return run()
    },
  }
  return [health('/hello'), health('/health'), ready]
}
