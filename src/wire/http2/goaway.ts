import { CODE } from './codes.ts'

/** Why a connection was ended by GOAWAY: the guard that acted, or the error code of RFC 9113 section 7. */
export type GoawayReason =
  | 'no_error'
  | 'protocol_error'
  | 'flow_control_error'
  | 'settings_timeout'
  | 'stream_closed'
  | 'frame_size_error'
  | 'compression_error'
  | 'internal_error'
  | 'idle_frames'
  | 'resets'
  | 'abandoned_requests'
  | 'field_block_size'
  | 'field_block_timeout'

/** Reasons of codes that no guard sends. */
const REASON_OF_CODE: ReadonlyMap<number, GoawayReason> = new Map<number, GoawayReason>([
  [CODE.none, 'no_error'],
  [CODE.protocol, 'protocol_error'],
  [CODE.flowControl, 'flow_control_error'],
  [CODE.settingsTimeout, 'settings_timeout'],
  [CODE.streamClosed, 'stream_closed'],
  [CODE.frameSize, 'frame_size_error'],
  [CODE.compression, 'compression_error'],
])

/** The reason that a code names by itself. */
export function reasonOf(code: number): GoawayReason {
  return REASON_OF_CODE.get(code) ?? 'internal_error'
}
