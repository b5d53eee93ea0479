import type { JsonObject } from '../json/json.ts'

/** A command to every gateway: drop the cached responses of an API, or the key sets of identity providers (`subject` ''). */
export interface GatewayCommand {
  readonly order: 'responses' | 'key_sets'
  readonly subject: string
}

/** The meaning of a stored command; undefined when a later version of the product wrote it. */
export function gatewayCommandOf({ order, subject }: JsonObject): GatewayCommand | undefined {
  if ((order !== 'responses' && order !== 'key_sets') || typeof subject !== 'string') return undefined
  return { order, subject }
}
