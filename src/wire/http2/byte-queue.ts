/** Room for bytes that come in small parts. */
const ROOM_BYTES = 4096

/** Bytes that were received and not taken yet. Copied together: many small parts cost no more than their bytes. */
export class ByteQueue {
  private readonly parts: Buffer[] = []
  /** Bytes of the last part that are used. */
  private used = 0
  private size = 0

  get length(): number {
    return this.size
  }

  /** Copies the bytes `from` to `to`. */
  push(bytes: Buffer, from: number, to: number): void {
    const last = this.parts.at(-1)
    const room = last === undefined ? 0 : Math.min(last.length - this.used, to - from)
    if (room > 0) {
      bytes.copy(last!, this.used, from, from + room)
      this.used += room
    }
    this.size += to - from
    if (from + room === to) return
    const part = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES, to - from - room))
    if (last !== undefined) this.parts[this.parts.length - 1] = last.subarray(0, this.used)
    this.used = bytes.copy(part, 0, from + room, to)
    this.parts.push(part)
  }

  /** The next bytes; undefined when there are none. */
  shift(): Buffer | undefined {
    const part = this.parts.shift()
    if (part === undefined) return undefined
    const bytes = this.parts.length === 0 ? part.subarray(0, this.used) : part
    this.size -= bytes.length
    return bytes
  }
}
