import { call } from '../calls/call.ts'

/** A key that JWT access tokens of an organisation are signed with. */
export interface SigningKey {
  readonly org_id: string
  readonly kid: string
  readonly alg: string
  readonly state: 'next' | 'current' | 'previous' | 'retired'
  readonly date_created: string
  readonly signs_from?: string
  readonly published_until?: string
  readonly retired_at?: string
}

interface SigningKeys {
  readonly keys: readonly SigningKey[]
}

export const SIGNING_KEYS_KEY = ['signing-keys'] as const

const PATH = '/api/oauth/signing-keys'

/** Newest first, of each algorithm. @throws CallError */
export async function listSigningKeys(signal?: AbortSignal): Promise<readonly SigningKey[]> {
  return (await call<SigningKeys>('GET', PATH, { ...(signal && { signal }) })).keys
}

/** Makes a new key for each algorithm in use. @throws CallError */
export function rotateSigningKeys(): Promise<SigningKeys> {
  return call('POST', `${PATH}/rotate`)
}

/** @throws CallError */
export function retireSigningKey(kid: string): Promise<SigningKeys> {
  return call('DELETE', `${PATH}/${encodeURIComponent(kid)}`)
}
