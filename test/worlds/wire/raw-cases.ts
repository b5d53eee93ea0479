import type { Expectation } from './verdict.ts'

type Piece = string | { readonly repeat: string; readonly times: number }

/** One case of `test/wire/cases/*.json`. Text means latin1 bytes. */
export interface RawCase {
  readonly name: string
  /** Number and section of the RFC that decides. */
  readonly rfc: string
  readonly send: Piece | readonly Piece[]
  /** True: the client ends its side behind the last byte. */
  readonly end?: boolean
  /** Methods of the requests, where one of them is HEAD. */
  readonly methods?: readonly string[]
  /** The outcome, or the outcomes among which the standard leaves the choice. */
  readonly expect: Expectation | readonly Expectation[]
}

/** The folder of the cases. */
export const CASES = new URL('../../wire/cases/', import.meta.url)

/** The bytes that a case sends. */
export function bytesOf(send: RawCase['send']): Buffer {
  const pieces = Array.isArray(send) ? (send as readonly Piece[]) : [send as Piece]
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.repeat.repeat(piece.times)))
  return Buffer.from(text.join(''), 'latin1')
}
