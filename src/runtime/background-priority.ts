import { getPriority, setPriority } from 'node:os'

/** Below that of traffic (0), above what only runs on an idle machine (19). */
const PRIORITY = 10

/**
 * Has traffic come first where cores are few: lowers the priority of the calling thread, and of those that it starts afterwards. Where the
 * priority is that of the whole process, which is so on all systems but Linux, nothing is done; nor where it is as low already (`nice -n 19`):
 * only root may raise one.
 */
export function yieldToTraffic(): void {
  if (process.platform === 'linux' && getPriority() < PRIORITY) setPriority(0, PRIORITY)
}
