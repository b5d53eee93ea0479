import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Fault, fault } from '../../errors/fault.ts'
import { dashboardStatusOf, renderFault } from '../../errors/render.ts'
import type { DashboardParts } from './parts.ts'
import { safetyHeaders } from './refuse.ts'
import { newRequestId } from './request-id.ts'

/** Answers a request that could not be read as HTTP, so that it never became one, like any other refusal, and ends the connection. */
export function refuseMalformedRequest(
  config: DashboardParts['config'],
  error: Error & { readonly code?: string },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const found = faultOf(error.code)
  const status = dashboardStatusOf(found)
  const body = renderFault(found, 'envelope')
  const fields = { ...safetyHeaders(config), 'content-type': 'application/json', 'x-request-id': newRequestId() }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}${length}${body}`)
}

function faultOf(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('head_too_large')
  return fault(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'request_malformed')
}
