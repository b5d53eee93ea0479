import { type OnReadOpts, Socket } from 'node:net'

/**
 * One buffer for the reads of all sockets of this thread. Node otherwise allocates 64 kB for each read, wraps it, pushes it through a
 * Readable and schedules a tick: 1.5 µs of 21 per proxied request for each of the two sockets (Node 26.10, loopback).
 * It works because on POSIX libuv reads and calls back at once. On Windows a buffer is in flight while its socket waits, so there,
 * and for TLS that we accept, ordinary `data` events are used.
 */
const SHARED: Buffer | undefined = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(65_536)

/** The handle of a socket's bytes, for which Node has no type. */
interface Handled {
  _handle: object | null | undefined
}

/** The `onread` option for a socket that is to be connected; undefined where `data` events must be used. */
export function readInto(take: (chunk: Buffer) => void): OnReadOpts | undefined {
  if (SHARED === undefined) return undefined
  return {
    buffer: SHARED,
    callback: (count: number) => {
      take(SHARED.subarray(0, count))
      return true
    },
  }
}

/** An accepted socket, and the callback for its bytes. */
export interface Accepted {
  readonly socket: Socket
  /** Address of the peer. */
  readonly address: string
  /** Begins to read. Called again, it gives what comes from then on to another. */
  read(take: (chunk: Buffer) => void): void
}

/**
 * Takes a socket that a server accepted with `pauseOnConnect` over into one that reads into the shared buffer. Servers have no option
 * for that (Node 26.10), so the handle is moved by hand; should it not be where it was, the socket is used as it is.
 */
export function acceptReading(accepted: Socket): Accepted {
  const handle = (accepted as unknown as Handled)._handle
  if (SHARED === undefined || handle === null || handle === undefined) return byEvents(accepted)
  let consumer: (chunk: Buffer) => void = () => {}
  const onread = readInto((chunk) => consumer(chunk))
  ;(accepted as unknown as Handled)._handle = null
  accepted.destroy()
  const options: object = { handle, onread, allowHalfOpen: true }
  const socket = new Socket(options)
  return {
    socket,
    address: addressOf(socket),
    read(take) {
      consumer = take
      socket.read(0)
    },
  }
}

/** An IPv4 peer of a socket that listens on IPv6 comes mapped. */
function addressOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress.startsWith('::ffff:') && remoteAddress.includes('.') ? remoteAddress.slice(7) : remoteAddress
}

/** Reads by `data` events. */
export function byEvents(socket: Socket): Accepted {
  return {
    socket,
    address: addressOf(socket),
    read(take) {
      socket.removeAllListeners('data')
      socket.on('data', take)
      socket.resume()
    },
  }
}

/**
 * The way back: a socket that holds `bytes`, and whose next ones an engine may read that moves them by itself (HTTP/2, TLS).
 * The one that was given is no more.
 */
export function releaseReading(reading: Socket, bytes: Buffer): Socket {
  const handle = (reading as unknown as Handled)._handle
  if (SHARED === undefined || handle === null || handle === undefined) {
    reading.removeAllListeners('data')
    reading.pause()
    reading.unshift(bytes)
    return reading
  }
  ;(reading as unknown as Handled)._handle = null
  reading.destroy()
  const options: object = { handle, allowHalfOpen: true, pauseOnCreate: true }
  const socket = new Socket(options)
  if (bytes.length > 0) socket.unshift(bytes)
  return socket
}

/** True for bytes in the shared buffer, which the next read overwrites. */
export function isFleeting(chunk: Buffer): boolean {
  return SHARED !== undefined && chunk.buffer === SHARED.buffer
}

/** Bytes that outlive the call they came with: copied where they would be overwritten. */
export function keep(chunk: Buffer): Buffer {
  return isFleeting(chunk) ? Buffer.from(chunk) : chunk
}
