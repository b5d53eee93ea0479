import { call } from '../calls/call.ts'

export interface HeaderField {
  readonly name: string
  readonly value: string
}

/** A request that is sent to an API through the gateway. */
export interface TrySent {
  readonly method: string
  /** Path and query, the listen path included. */
  readonly path: string
  readonly headers: readonly HeaderField[]
  readonly body: string
}

/** One step of the gateway, and how it ended. */
export interface TryStep {
  readonly step: string
  readonly outcome: 'passed' | 'refused' | 'answered' | 'forwarded'
  readonly detail?: string
  readonly reason?: string
  readonly code?: string
  readonly status?: number
}

export interface TryAnswer {
  readonly status: number
  readonly headers: readonly HeaderField[]
  readonly body: string
  readonly body_encoding: 'utf-8' | 'base64'
  readonly body_cut: boolean
}

export interface TryResult {
  readonly steps: readonly TryStep[]
  readonly explained: {
    readonly key?: { readonly key_hash: string; readonly alias: string } | null
    readonly policies?: readonly string[]
    readonly limits?: readonly { readonly kind: string; readonly max: number; readonly remaining: number }[]
    readonly result?: { readonly outcome: string; readonly path?: string; readonly targets?: readonly string[] }
  }
  readonly answer: TryAnswer | null
  readonly trouble: string
  readonly duration_ms: number
}

/** Sends a request through the gateway. @throws CallError 400 where the path is not this API's, 503 without a gateway */
export function tryRequest(apiId: string, body: TrySent): Promise<TryResult> {
  return call('POST', `/api/apis/${encodeURIComponent(apiId)}/try`, { body })
}
