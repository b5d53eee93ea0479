// A process that raises events as fast as it may, and says which are stored, until it is killed.
import { readApi } from '../../../src/model/apis/read/read.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { TrafficEvents } from '../../../src/publish/events/traffic-events.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { classic } from '../base/definitions.ts'
import { SEAL_KEY } from '../oauth/notifications.ts'

const [path = '', round = '0'] = process.argv.slice(2)
const say = (...words: string[]) => process.stdout.write(`${words.join(' ')}\n`)
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit()).resume()

const store = await openStore({ path })
const handler = { handler_name: 'eh_web_hook_handler', handler_meta: { target_path: 'https://example.org/hook' } }
const definition = { ...classic('a', '/a/', 'http://up/'), event_handlers: { events: { HostDown: [handler] } } }
const api = readApi({ api_id: 'a', org_id: 'o', name: 'a', format: 'classic', definition })
const clock = new FakeClock()
let told: string[] = []
const events = new TrafficEvents({
  ...{ documents: store.documents, clock, log: silentLog, sealKey: SEAL_KEY },
  findApi: () => api,
  // Called when the commit is acknowledged.
  wakeDeliveries: () => {
    for (const host of told) say('stored', host)
    told = []
    next()
  },
})
say('ready')

let n = 0
function next(): void {
  // Past the measure of one receiver.
  clock.advance(60_000)
  for (let i = 0; i < 5; i++) {
    const host = `${round}-${n++}`
    told.push(host)
    events.tell('HostDown', 'a', { target: host })
  }
}
next()
