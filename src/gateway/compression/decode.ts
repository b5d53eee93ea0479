import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, type ZlibOptions, zstdDecompress } from 'node:zlib'
import { fault } from '../../errors/fault.ts'
import type { Fields } from '../../wire/http1/fields.ts'
import type { Exchange } from '../server/exchange.ts'
import { putBody } from '../steps/transforms/put-body.ts'

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>

const DECODE: Readonly<Record<string, Decode>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, object, Buffer>(brotliDecompress),
  zstd: promisify<Buffer, object, Buffer>(zstdDecompress),
}

export const TOO_LARGE = 'is too large'

/** The content coding of a message, lower case; '' for none. */
export function codingOf(fields: Fields): string {
  const coding = fields.all('content-encoding').join(',').trim().toLowerCase()
  return coding === 'identity' ? '' : coding
}

/** Undoes one content coding (RFC 9110 section 8.4). A text says why that cannot be done; `TOO_LARGE` where the result has more than `limitBytes`. */
export async function decode(bytes: Buffer, coding: string, limitBytes: number): Promise<Buffer | string> {
  if (bytes.length === 0 || coding === '') return bytes
  const one = Object.hasOwn(DECODE, coding) ? DECODE[coding] : undefined
  if (one === undefined) return `is encoded as ${coding}, not as gzip, deflate, br or zstd`
  try {
    return await one(bytes, { maxOutputLength: limitBytes })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? TOO_LARGE : `is not encoded as ${coding}`
  }
}

/**
 * The body of a request without its content coding, or why that cannot be had. The upstream gets what rules have seen, so a coded body goes
 * on without its coding.
 * @throws Fault `body_too_large`, coded or decoded, and every fault that ends a body early
 */
export async function readDecoded(
  x: Exchange,
  limitBytes: number,
): Promise<{ readonly bytes: Buffer } | { readonly reason: string }> {
  const sent = await x.readBody(limitBytes)
  const coding = codingOf(x.request)
  if (coding === '') return { bytes: sent }
  const bytes = await decode(sent, coding, limitBytes)
  if (bytes === TOO_LARGE) throw fault('body_too_large')
  if (typeof bytes === 'string') return { reason: bytes }
  if (!x.holdBody(bytes.length)) throw fault('busy', 'too many bytes of request bodies are in memory')
  x.request.erase('content-encoding')
  putBody(x, bytes)
  return { bytes }
}
