import { parentPort, workerData } from 'node:worker_threads'
import { toFault } from '../errors/fault.ts'
import { type DashboardOptions, startDashboard } from './server.ts'

/** What the dashboard's thread tells the thread that started it. */
export type DashboardNews =
  | { readonly news: 'listening'; readonly port: number }
  | { readonly news: 'failed'; readonly code: string; readonly message: string }

const port = parentPort
if (port === null) throw new Error('the dashboard thread is started by the server, not by hand')

const tell = (news: DashboardNews) => port.postMessage(news)
try {
  const dashboard = await startDashboard(workerData as DashboardOptions)
  tell({ news: 'listening', port: dashboard.port })
  port.on('message', (word) => {
    if (word === 'stop') void dashboard.close().then(() => port.close())
  })
} catch (error) {
  const { code, message } = toFault(error)
  tell({ news: 'failed', code, message })
  port.close()
}
