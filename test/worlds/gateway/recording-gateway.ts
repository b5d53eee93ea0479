import { writeSync } from 'node:fs'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { defined } from '../base/definitions.ts'
import { startTestGateway } from '../base/harness.ts'
import { startOrigin } from '../servers/origin.ts'

// A gateway that records everything over the embedded store in a folder, until it is killed.
const [path = ''] = process.argv.slice(2)
const store = await openStore({ path })
const origin = await startOrigin()
const env = { SVC_ANALYTICS_DETAILEDRECORDING: 'true', SVC_ANALYTICS_RECORDSPERSECOND: '10000' }
const gateway = await startTestGateway({ store, env })
await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'open', url: origin.url }))
writeSync(1, `ready ${gateway.port}\n`)
