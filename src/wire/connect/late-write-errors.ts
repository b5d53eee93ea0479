import type { Socket } from 'node:net'

type Written = (error?: Error | null) => void

/**
 * Has a socket report a failed write a turn of the event loop late, so that all that has arrived is read before. An upstream may answer
 * and close while it is sent a body (RFC 9112 section 9.6): its reset fails the next write, which would destroy the socket, answer and all.
 */
export function readsBeforeWriteErrors(socket: Socket): void {
  const [write, writev] = [socket._write, socket._writev]
  socket._write = (chunk, encoding, written) => write.call(socket, chunk, encoding, late(written))
  if (writev !== undefined) socket._writev = (chunks, written) => writev.call(socket, chunks, late(written))
}

function late(written: Written): Written {
  return (error) => {
    if (!error) written()
    // The turn that is under way may have looked for bytes already.
    else setImmediate(() => setImmediate(() => written(error)))
  }
}
