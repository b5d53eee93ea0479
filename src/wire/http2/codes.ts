/** Types of frames (RFC 9113 section 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

/** Flags of frames; the same bit means another thing in another type. */
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** Error codes (RFC 9113 section 7). */
export const CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
} as const

/** Parameters of SETTINGS (RFC 9113 section 6.5.2). */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  /** RFC 8441 section 3. */
  enableConnectProtocol: 8,
} as const

/** Bytes before the payload of a frame. */
export const FRAME_HEAD_BYTES = 9
/** Largest payload that both sides take without a word, and that we take at all (RFC 9113 section 4.2). */
export const MAX_FRAME_BYTES = 16_384
/** Window of a stream and of a connection before anybody says otherwise (RFC 9113 section 6.9.2). */
export const DEFAULT_WINDOW_BYTES = 65_535
export const MAX_WINDOW_BYTES = 0x7fffffff
export const MAX_STREAM_ID = 0x7fffffff
