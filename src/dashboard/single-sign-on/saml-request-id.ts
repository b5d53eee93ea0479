import { createHmac, randomBytes } from 'node:crypto'
import { equalSecrets, lookupKey, type SealKey } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { FLOW_MS } from './flow-cookie.ts'

const SHAPE = /^_([0-9a-f]{12})([0-9a-f]{32})([0-9a-f]{64})$/

/**
 * Makes the id of a SAML request that tells by itself that it is ours, for which profile, and since when: nothing need be stored
 * for strangers who begin a sign-in.
 */
export function newSamlRequestId(sealKey: SealKey, profileId: string, now: Millis): string {
  const front = now.toString(16).padStart(12, '0') + randomBytes(16).toString('hex')
  return `_${front}${macOf(sealKey, profileId, front)}`
}

/** When the request of an id was created; undefined when we did not create it for the profile, or it has expired. */
export function requestMadeAt(sealKey: SealKey, profileId: string, id: string, now: Millis): Millis | undefined {
  const [, time, random, mac] = SHAPE.exec(id) ?? []
  if (time === undefined || random === undefined || mac === undefined) return undefined
  if (!equalSecrets(mac, macOf(sealKey, profileId, time + random))) return undefined
  const madeAt = Number.parseInt(time, 16)
  return madeAt + FLOW_MS > now ? madeAt : undefined
}

function macOf(sealKey: SealKey, profileId: string, front: string): string {
  return createHmac('sha256', lookupKey(sealKey))
    .update(JSON.stringify(['saml_request', profileId, front]))
    .digest('hex')
}
