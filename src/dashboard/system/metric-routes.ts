import { Type } from 'typebox'
import { metricsPage } from '../../runtime/render-metrics.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The metrics of the dashboard, for Prometheus: `/metrics`. */
export function metricRoutes({ metrics }: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      access: 'installation',
      scraped: true,
      summary:
        'Read the metrics of this dashboard as Prometheus reads them; the bearer token `metrics.secret` opens it too',
      answers: { 200: Type.String() },
      answerType: 'text/plain',
      run: async (call) => {
        const { contentType, body } = await metricsPage(metrics.registry, call.header('accept'))
        return { status: 200, body, type: contentType }
      },
    },
  ]
}
