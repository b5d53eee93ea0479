import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { type OriginScript, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, statusOf, turn } from '../../worlds/wire/raw.ts'

const EVERY = process.env.GATEHOUSE_DEEP === '1' ? 1 : 11
const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** Answers with the body `hello`, right and wrong, and those that end with the connection. */
const ANSWERS: Readonly<Record<string, string>> = {
  'a length': `${OK}Content-Length: 5\r\n\r\nhello`,
  'the same length twice': `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
  'two lengths': `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
  chunks: `${OK}${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunks beside a length': `${OK}Content-Length: 3\r\n${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunks with padding and extensions': `${OK}${CHUNKED}\r\n2 ;a=b \r\nhe\r\n3  \r\nllo\r\n0 \r\n\r\n`,
  'chunks with trailers': `${OK}${CHUNKED}Trailer: X-A\r\n\r\n5\r\nhello\r\n0\r\nX-A: b\r\n\r\n`,
  'a wrong chunk behind a good one': `${OK}${CHUNKED}\r\n2\r\nhe\r\nxyz\r\nllo\r\n0\r\n\r\n`,
  'identity as a coding': `${OK}Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello`,
  'no length': `${OK}X: y\r\n\r\nhello`,
  'HTTP/1.0': 'HTTP/1.0 200 OK\r\n\r\nhello',
  'bare LF and folds': 'HTTP/1.1 200 OK\nX: a\n b\nContent-Length: 5\n\nhello',
  'no reason': 'HTTP/1.1 404\r\nContent-Length: 5\r\n\r\nhello',
  'two interim answers before': `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`,
  'an interim answer with a length': `HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`,
  'an empty line before': `\r\n${OK}Content-Length: 5\r\n\r\nhello`,
  'a switch that nobody asked for':
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
  'no content': 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
  'a body beside 304': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello',
  'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\nhello',
  'a status beyond 599': 'HTTP/1.1 999 Odd\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/0.9': 'hello',
  'another protocol': 'ICY 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'a small protocol name': 'http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
}

/** Answers that are whole with any part of their body. */
const ENDED_BEFORE = /^(?:no length|HTTP\/1\.0|no content|a body beside 304)$/

/** An answer as a client sees it: undefined status = the connection ended without one. */
interface Got {
  readonly status: number | undefined
  readonly complete: boolean
  readonly body: string
}

async function overHttp1(port: number, path: string): Promise<Got> {
  const client = await Client.connect(port)
  try {
    client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const answer = await client.answer()
    if (answer === undefined) return { status: undefined, complete: false, body: '' }
    return { status: statusOf(answer), complete: answer.complete, body: answer.body.toString('latin1') }
  } finally {
    client.destroy()
  }
}

function overHttp2(port: number, path: string): Promise<Got> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  return new Promise<Got>((resolve) => {
    const stream = session.request({ ':path': path })
    let [status, body, ended] = [undefined as number | undefined, '', false]
    stream.on('response', (fields) => {
      status = Number(fields[':status'])
    })
    stream.on('data', (part: Buffer) => {
      body += part.toString('latin1')
    })
    stream.on('error', () => {})
    stream.on('end', () => {
      ended = true
    })
    stream.on('close', () => resolve({ status, body, complete: ended && stream.rstCode === 0 }))
  }).finally(() => session.destroy())
}

test('of any part of an answer by an upstream the caller gets an end, and the log says which', async (t) => {
  let part = ''
  const script: OriginScript = async (connection) => {
    if ((await connection.request())?.complete !== true) return
    connection.write(part)
    await turn()
  }
  const origin = await openOrigin(t, script)
  const gateway = await startTestGateway({ accessLog: true })
  t.after(() => gateway.close())
  const api = defined({ id: 'a', url: `http://127.0.0.1:${origin.port}` })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  const seen: { where: string; got: Got }[] = []
  for (const [name, bytes] of Object.entries(ANSWERS)) {
    const cuts = Array.from({ length: bytes.length }, (_, at) => at).filter((at) => at % EVERY === 0)
    for (const at of [...cuts, bytes.length - 1, bytes.length]) {
      part = bytes.slice(0, at)
      for (const ask of [overHttp1, overHttp2]) {
        const where = `${name}, ${at} of ${bytes.length} bytes, ${ask.name}`
        const got = await ask(gateway.port, `/a/${seen.length}`)
        assert.ok(got.status !== undefined, `${where}: an answer`)
        if (at < bytes.length && got.complete && got.status !== 502)
          assert.match(name, ENDED_BEFORE, `${where}: part of an answer is not whole`)
        seen.push({ where, got })
      }
    }
  }
  const lines = () => gateway.accessLines.map((line) => JSON.parse(line)).filter(({ path }) => path.startsWith('/a/'))
  await eventually('all lines are written', () => lines().length === seen.length)
  for (const { path, status, outcome } of lines()) {
    const { where, got } = seen[Number(path.slice(3))]!
    const wanted = { status: got.status, outcome: got.complete ? 'complete' : 'cut_by_upstream' }
    assert.deepEqual({ status, outcome }, wanted, `${where}: ${JSON.stringify(got)}`)
  }
})
