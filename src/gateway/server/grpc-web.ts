import type { BodyEncoder } from '../../wire/http1/exchange.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange } from './exchange.ts'
import { linesOnly } from './field-lines.ts'

const GRPC_WEB = /^application\/grpc-web(-text)?(\+[a-z0-9.+-]{1,40})?[ \t]*(?:;|$)/i
const GRPC = /^application\/grpc(?:[+;]|$)/i

/** True for the `Content-Type` of calls and answers of gRPC in any message format; gRPC-Web is a protocol of its own. */
export function isGrpcType(type: string | undefined): boolean {
  return type !== undefined && GRPC.test(type)
}

/** First byte of the frame of trailers. */
const TRAILERS = 0x80
/** A call that ends with its head has them there. */
const STATUS_FIELDS: ReadonlySet<string> = new Set(['grpc-status', 'grpc-message', 'grpc-status-details-bin'])
/** Of an upstream that ended without one: browsers would take the call for one that went well. */
const NO_STATUS = 'grpc-status: 2\r\ngrpc-message: the upstream sent no status\r\n'
const NOTHING = Buffer.alloc(0)

/** A request of gRPC-Web (`PROTOCOL-WEB.md` of gRPC). */
export type GrpcWebCall = NonNullable<Exchange['grpcWeb']>

/** The call of gRPC-Web that a request to an API which translates them is; undefined for others. */
export function grpcWebCall(x: Exchange): GrpcWebCall | undefined {
  if (x.chain?.api.grpcWeb !== true || x.method !== 'POST') return undefined
  const found = GRPC_WEB.exec(x.request.known(FIELD.contentType) ?? '')
  if (found === null) return undefined
  const [, text = '', format = ''] = found
  return { text: text !== '', webType: `application/grpc-web${text}${format}`, grpcType: `application/grpc${format}` }
}

/** The frame of these trailers (`name: value\r\n` lines), which ends an answer of gRPC-Web. */
export function trailerFrame(lines: string, { text }: GrpcWebCall): Buffer {
  const frame = Buffer.alloc(5 + lines.length)
  frame[0] = TRAILERS
  frame.writeUInt32BE(lines.length, 1)
  frame.write(lines, 5, 'latin1')
  return text ? inBase64(frame) : frame
}

/** Has the answer of a gRPC upstream translated as it streams; answers its extra lines. Other answers pass as they are. */
export function translateAnswer(x: Exchange, call: GrpcWebCall, extra: string): string {
  if (!isGrpcType(x.response.known(FIELD.contentType))) return extra
  const early = linesOnly(x.response.kept(), STATUS_FIELDS)
  for (const name of STATUS_FIELDS) x.response.drop(name)
  x.response.drop('content-type')
  x.bodyEncoder = new GrpcWebEncoder(x, call, early)
  return `${extra}Content-Type: ${call.webType}\r\n`
}

/** Passes messages as they are, and the trailers behind them as a frame. */
class GrpcWebEncoder implements BodyEncoder {
  readonly #x: Exchange
  readonly #call: GrpcWebCall
  readonly #early: string

  constructor(x: Exchange, call: GrpcWebCall, early: string) {
    this.#x = x
    this.#call = call
    this.#early = early
  }

  encode(chunk: Buffer, from: number, to: number, last: boolean): Buffer {
    const part =
      to === from
        ? NOTHING
        : this.#call.text
          ? inBase64(chunk.subarray(from, to))
          : Buffer.from(chunk.subarray(from, to))
    if (!last) return part
    const sent = this.#early + this.#x.answeredTrailers()
    const lines = /^grpc-status:/im.test(sent) ? sent : sent + NO_STATUS
    const frame = trailerFrame(lines, this.#call)
    this.#x.answerTrailers = undefined
    return Buffer.concat([part, frame])
  }

  close(): void {}
}

function inBase64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('base64'), 'latin1')
}
