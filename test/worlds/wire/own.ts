import type { TestContext } from 'node:test'
import type { WireExchange } from '../../../src/wire/http1/exchange.ts'
import { openGate } from './gate.ts'
import { Client } from './raw.ts'
import type { Reading } from './reading.ts'

/** Our engine's reading of one stream. */
export interface OwnReading {
  readonly requests: readonly Reading[]
  /** True when it took every byte without a refusal. */
  readonly accepted: boolean
  /** Status lines of the answers, for the report of a failure. */
  readonly answers: string
}

/** Our engine behind a real listener, which answers every request itself when its body is there. One stream at a time. */
export interface Own {
  /** Reads a stream, cut at the given borders, to its end. */
  read(bytes: Buffer, cuts: readonly number[]): Promise<OwnReading>
  /** Open connections now. */
  connections(): number
}

/** Opens it for one test. With `late` it asks for the body only after the event loop has turned, as a step that waits would. */
export async function openOwn(t: TestContext, late = false): Promise<Own> {
  let requests: Reading[] = []
  const gate = await openGate(t, {
    originPort: 1,
    handle(x) {
      const list = requests
      const draft = draftOf(x)
      const at = list.push(draft) - 1
      const read = () =>
        x.readBody(1 << 20).then(
          (body) => {
            list[at] = { ...draft, body: Buffer.from(body), complete: true }
            x.reply(200, '', undefined)
          },
          () => x.reply(400, '', undefined),
        )
      if (late) setImmediate(read)
      else void read()
    },
  })
  return {
    connections: () => gate.listener.connections(),
    async read(bytes, cuts) {
      const list: Reading[] = []
      requests = list
      const client = await Client.connect(gate.port)
      await client.writeCut(bytes, cuts)
      client.end()
      const answers = (await client.inbox.toEnd()).toString('latin1')
      client.destroy()
      const statuses = answers.match(/HTTP\/1\.1 \d{3}/g) ?? []
      const refused = statuses.some((status) => !/ (?:200|100)$/.test(status))
      const whole = list.length > 0 && list.every((one) => one.complete)
      return { requests: list, accepted: whole && !refused, answers: statuses.join(' ') }
    },
  }
}

function draftOf(x: WireExchange): Reading {
  const { text } = x.request
  const line = text.slice(0, text.indexOf('\r\n', 2)).trimStart().split(' ')
  return {
    method: x.method,
    target: line[1] ?? '',
    path: x.path,
    query: x.query,
    host: x.host,
    fields: x.request.entries(),
    body: Buffer.alloc(0),
    complete: false,
  }
}
