import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openGate } from '../../worlds/wire/gate.ts'
import { type OriginScript, openOrigin } from '../../worlds/wire/origin.ts'
import { below, seeded } from '../../worlds/wire/random.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'
import { nothingLeft } from '../../worlds/wire/until-quiet.ts'

const SEED = Number(process.env.GATEHOUSE_SEED ?? 1)
const SIZE = 3 << 20

/** Reads in bursts, so that the sender is stopped now and then. */
function stutter(socket: Client['socket']): void {
  socket.on('data', () => {
    socket.pause()
    setImmediate(() => socket.resume())
  })
}

/** The body as chunks of uneven size. */
function chunked(body: Buffer, random: () => number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const size = 1 + below(random, random() < 0.5 ? 60 : 100_000)
    const data = body.subarray(at, at + size)
    parts.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n'))
    at += size
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Answers every request with its own body, framed as its path says. */
function returning(random: () => number): OriginScript {
  return async (connection) => {
    stutter(connection.socket)
    for (;;) {
      const request = await connection.request()
      if (request === undefined) return
      if (request.start.includes('/chunked')) {
        connection.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        connection.write(chunked(request.body, random))
      } else {
        connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${request.body.length}\r\n\r\n`)
        connection.write(request.body)
      }
    }
  }
}

test('bodies of many connections at once arrive unchanged through slow readers', async (t) => {
  const random = seeded(SEED)
  const origin = await openOrigin(t, returning(random))
  const gate = await openGate(t, { originPort: origin.port })
  const upload = async (number: number) => {
    const client = await Client.connect(gate.port)
    stutter(client.socket)
    for (const [round, framing] of ['length', 'chunked', 'small'].entries()) {
      const body = randomBytes(framing === 'small' ? 1000 : SIZE)
      const answerAs = (number + round) % 2 === 0 ? '/length' : '/chunked'
      const head = `POST ${answerAs} HTTP/1.1\r\nHost: a\r\n`
      if (framing === 'chunked') {
        client.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
        client.write(chunked(body, random))
      } else {
        client.write(`${head}Content-Length: ${body.length}\r\n\r\n`)
        client.write(body)
      }
      const answer = await client.answer()
      assert.ok(answer !== undefined)
      assert.equal(statusOf(answer), 200)
      assert.ok(answer.body.equals(body), `client ${number}, ${framing}, answered by ${answerAs}`)
    }
    client.destroy()
  }
  await Promise.all([0, 1, 2, 3, 4, 5].map(upload))
  await nothingLeft(gate)
})
