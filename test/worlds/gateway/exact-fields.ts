import { type ClientSessionOptions, connect } from 'node:http2'
import { Client, statusOf } from '../wire/raw.ts'

export type Version = '1.1' | '2'
export const VERSIONS: readonly Version[] = ['1.1', '2']

export type Pairs = readonly (readonly [name: string, value: string])[]

export interface ExactRequest {
  readonly method?: string
  readonly path: string
  readonly host?: string
  /** Besides Host, exactly as they are, in this order. */
  readonly fields: Pairs
}

export interface ExactAnswer {
  readonly status: number
  /** Names in lower case, in order, repeated ones too. */
  readonly fields: Pairs
}

/** Sends a request without a body and with exactly these fields, on a new connection. */
export function sendExactly(port: number, version: Version, request: ExactRequest): Promise<ExactAnswer> {
  return version === '2' ? overHttp2(port, request) : overHttp1(port, request)
}

const AS_GIVEN: ClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
  strictSingleValueFields: false,
}

/** Every value of a field. */
export function valuesOf({ fields }: { readonly fields: Pairs }, name: string): string[] {
  return fields.filter(([known]) => known === name).map(([, value]) => value)
}

async function overHttp1(port: number, { method = 'GET', path, host = 'gate.example', fields }: ExactRequest) {
  const client = await Client.connect(port)
  try {
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const answer = await client.ask(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`, method)
    return { status: statusOf(answer), fields: answer.fields }
  } finally {
    client.destroy()
  }
}

function overHttp2(port: number, { method = 'GET', path, host = 'gate.example', fields }: ExactRequest) {
  const session = connect(`http://127.0.0.1:${port}`, AS_GIVEN)
  return new Promise<ExactAnswer>((resolve, reject) => {
    session.on('error', reject)
    const lower = fields.flatMap(([name, value]) => [name.toLowerCase(), value])
    const pseudo = [':method', method, ':scheme', 'http', ':authority', host, ':path', path]
    const stream = session.request([...pseudo, ...lower], { endStream: true })
    let answer: ExactAnswer = { status: 0, fields: [] }
    stream.on('response', (headers, _flags, raw) => {
      const pairs: (readonly [string, string])[] = []
      for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!])
      answer = { status: Number(headers[':status']), fields: pairs.filter(([name]) => !name.startsWith(':')) }
    })
    stream.on('error', reject)
    stream.on('end', () => resolve(answer))
    stream.resume()
  }).finally(() => session.destroy())
}
