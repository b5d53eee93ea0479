import { TABLE_BYTES } from '../hpack/decoder.ts'
import { CODE, DEFAULT_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_WINDOW_BYTES, SETTING } from './codes.ts'

const LARGEST_FRAME_BYTES = 0xffffff

/** Settings of the peer (RFC 9113 section 6.5.2). Frames are never larger than the minimum that all accept, even if the peer allows more. */
export class PeerSettings {
  /** True once it has said anything. */
  known = false
  maxStreams = Number.POSITIVE_INFINITY
  initialWindowBytes = DEFAULT_WINDOW_BYTES
  tableBytes = TABLE_BYTES
  /** The least that the last SETTINGS named on the way to it. */
  lowestTableBytes = TABLE_BYTES

  /** Reads the payload of SETTINGS, from a client (`byClient`) or a server. Answers the CODE of what may not be. */
  read(bytes: Buffer, from: number, to: number, byClient: boolean): number {
    this.known = true
    this.lowestTableBytes = this.tableBytes
    for (let at = from; at < to; at += 6) {
      const code = this.take(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2), byClient)
      if (code !== CODE.none) return code
    }
    return CODE.none
  }

  private take(id: number, value: number, byClient: boolean): number {
    switch (id) {
      case SETTING.headerTableSize:
        this.tableBytes = value
        this.lowestTableBytes = Math.min(value, this.lowestTableBytes)
        return CODE.none
      case SETTING.enablePush:
        return value > (byClient ? 1 : 0) ? CODE.protocol : CODE.none
      case SETTING.maxConcurrentStreams:
        this.maxStreams = value
        return CODE.none
      case SETTING.initialWindowSize:
        this.initialWindowBytes = value
        return value > MAX_WINDOW_BYTES ? CODE.flowControl : CODE.none
      case SETTING.maxFrameSize:
        return value < MAX_FRAME_BYTES || value > LARGEST_FRAME_BYTES ? CODE.protocol : CODE.none
      default:
        return CODE.none
    }
  }
}
