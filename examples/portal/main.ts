// The portal alone, on a dashboard that is there already. README.md says which variables it reads.
import { startPortal } from './server.ts'
import { readSettings } from './settings.ts'

const portal = await startPortal(readSettings(process.env))
console.log(`portal  ${portal.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void portal.close())
