import { soleTurn } from '../../runtime/turns.ts'

/** Bodies from which on the reading of one takes long enough to be felt by others: 30 ms a megabyte. */
const LARGE_BYTES = 1 << 20

/**
 * Waits, for a large body, for a turn of the event loop in which no other large one is worked on. Asked before each part of the work
 * (parse, check, store), so that cheap calls wait for one part of one body at most.
 */
export async function largeBodyTurn(body: Uint8Array): Promise<void> {
  if (body.length >= LARGE_BYTES) await soleTurn()
}
