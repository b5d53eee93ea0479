import { fault } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { grpcWebCall } from '../../server/grpc-web.ts'
import { putBody } from './put-body.ts'

/** Largest body in base64: browsers send one message, and services of gRPC take 4 MB unless they say otherwise. */
const MAX_TEXT_BYTES = 6_291_456
/** Padded parts of such a body: clients send one, or one for each message. Millions of them would stop a thread for seconds. */
const MOST_PARTS = 1000

/** Makes a call of gRPC of one of gRPC-Web, where the API says that its upstream speaks gRPC alone. The answer: `translateAnswer`. */
export function translateGrpcWeb(api: Api): Step | undefined {
  if (api.grpcWeb !== true) return undefined
  return function translateGrpcWeb(x) {
    const call = x.grpcWeb === undefined ? grpcWebCall(x) : undefined
    if (call === undefined || x.dry) return undefined
    x.grpcWeb = call
    for (const name of ['content-type', 'accept', 'x-grpc-web']) x.request.drop(name)
    x.requestExtra += `Content-Type: ${call.grpcType}\r\n`
    return call.text ? fromBase64(x) : undefined
  }
}

/** Base64 whose parts may each be padded, as several frames in a row are. */
async function fromBase64(x: Exchange): Promise<StepOutcome> {
  const text = (await x.readBody(Math.min(x.bodyLimitBytes || MAX_TEXT_BYTES, MAX_TEXT_BYTES))).toString('latin1')
  const parts: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOfPart(text, at)
    const part = text.slice(at, end)
    if (parts.length === MOST_PARTS || !isPadded(part))
      return fault('request_malformed', `the body is not in base64, in at most ${MOST_PARTS} parts`)
    parts.push(Buffer.from(part, 'base64'))
    at = end
  }
  putBody(x, Buffer.concat(parts))
  return undefined
}

function endOfPart(text: string, from: number): number {
  const sign = text.indexOf('=', from)
  if (sign === -1) return text.length
  return text[sign + 1] === '=' ? sign + 2 : sign + 1
}

function isPadded(part: string): boolean {
  return part.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(part)
}
