import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const COUNT = 600
const statusesOf = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.length ?? 0

test('pipelined requests are answered in order and take turns with other connections', async (t) => {
  const { port, close } = await startTestDashboard({})
  t.after(close)
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  const body = 'a=b'
  const post = `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const greedy = connect(port, '127.0.0.1')
  greedy.setEncoding('latin1').write(get('/hello').repeat(COUNT) + post + get('/api/none') + get('/hello'))
  let text = ''
  let answered = -1
  for await (const chunk of greedy) {
    text += chunk
    if (answered === -1) {
      answered = 0
      const other = connect(port, '127.0.0.1')
      other.end(get('/hello'))
      other.once('data', () => {
        answered = statusesOf(text)
        other.destroy()
      })
    }
    if (statusesOf(text) === COUNT + 3) break
  }
  const statuses = text.match(/(?<=HTTP\/1\.1 )\d+/g)!
  assert.deepEqual(statuses.slice(-4), ['200', '404', '404', '200'])
  assert.ok(statuses.slice(0, COUNT).every((status) => status === '200'))
  assert.ok(answered > 0 && answered < COUNT / 2, `another caller was answered after ${answered} of ${COUNT}`)
})
