import { forgetEndedKeys } from '../../../publish/portal/developers/key-ends.ts'
import type { DashboardParts } from '../../server/parts.ts'

const EVERY_MS = 60_000

/** Forgets ended keys of developers now and once a minute. Answers the function that ends it. */
export function scheduleKeyExpiry(parts: DashboardParts): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const forget = () => {
    running = running
      .then(() => forgetEndedKeys(parts))
      .then((keys) => {
        if (keys > 0) parts.log.info({ keys }, 'deleted expired developer keys')
      })
      .catch((cause) => parts.log.error({ cause }, 'cannot delete expired developer keys'))
  }
  forget()
  const timer = setInterval(forget, EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    return running
  }
}
