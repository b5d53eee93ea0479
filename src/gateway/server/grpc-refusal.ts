import type { Fault } from '../../errors/fault.ts'
import { publicText } from '../../errors/render.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange } from './exchange.ts'

/** `application/grpc` and its variants by message format; `application/grpc-web` is a different protocol. */
const GRPC_TYPE = /^application\/grpc(?:[+;]|$)/i

/** Statuses of gRPC (its `statuscodes.md`) for statuses of HTTP. */
const CODES: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  408: 4,
  413: 8,
  429: 8,
  431: 8,
  499: 1,
  502: 14,
  503: 14,
  504: 4,
}
const UNKNOWN = 2

/** True when the caller speaks gRPC, and so reads statuses in trailers only. */
export function isGrpc(x: Exchange): boolean {
  const type = x.request.known(FIELD.contentType)
  return type !== undefined && GRPC_TYPE.test(type)
}

/** The fields of a refusal to a caller of gRPC: an answer that is trailers alone. */
export function grpcRefusal(fault: Fault): string {
  return `Content-Type: application/grpc\r\n${grpcStatus(fault)}`
}

/** The lines that say to a caller of gRPC why it was refused. */
export function grpcStatus(fault: Fault): string {
  const code = CODES[fault.entry.status] ?? UNKNOWN
  return `grpc-status: ${code}\r\ngrpc-message: ${percentEncoded(publicText(fault))}\r\n`
}

/** As gRPC over HTTP/2 spells messages: printable ASCII without `%` as it is, every other byte of UTF-8 escaped. */
function percentEncoded(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 32 && byte <= 126 && byte !== 37
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
