import type { TicketInput } from './ports.ts'

/**
 * A ticket to be stored: single-use or not, of nobody and forgotten when it expires unless `more` says otherwise. `expiresAt` in milliseconds
 * since the Unix epoch.
 */
export function newTicket(
  sort: TicketInput['sort'],
  expiresAt: number,
  more: Partial<Omit<TicketInput, 'sort' | 'expiresAt'>> = {},
): TicketInput {
  return { sort, apiId: '', clientId: '', family: '', expiresAt, keepUntil: expiresAt, body: {}, ...more }
}
