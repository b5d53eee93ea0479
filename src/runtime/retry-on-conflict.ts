import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FaultCode } from '../errors/catalog.ts'
import { toFault } from '../errors/fault.ts'

/**
 * Each conflict means that another writer was first. Most that write the same thing wait for each other in a mutex of their process, so that
 * only other processes are in the way: twenty attempts are more than a cluster has of those, and take some 20 ms.
 */
export const MOST_ATTEMPTS = 20

const CHANGED: ReadonlySet<FaultCode> = new Set(['revision_conflict'])
/** Faults of a commit whose ticket another writer has used, written or deleted. */
export const TICKET_CONFLICT: ReadonlySet<FaultCode> = new Set(['ticket_unusable'])

/**
 * Runs `work`, which reads and then writes, again for as long as its commit fails because of another writer. `work` gets
 * the number of the attempt, from 1, and must read again what it decides by.
 * @throws the conflict of the last attempt, and at once every fault that is not one of `conflicts`
 */
export async function retryOnConflict<T>(
  work: (attempt: number) => Promise<T>,
  conflicts: ReadonlySet<FaultCode> = CHANGED,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !conflicts.has(toFault(error).code)) throw error
    }
    // Other work of this process goes first: it may have caused the conflict.
    await nextTurn()
  }
}
