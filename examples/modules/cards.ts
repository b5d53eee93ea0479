import type { ModuleExchange } from '../../src/gateway/modules/extension.ts'

/** Replaces card numbers in JSON orders by their last four digits. Needs `bodyLimitBytes` in the definition. */
export function hideCards(exchange: ModuleExchange): void {
  if (!exchange.headers.get('Content-Type')?.startsWith('application/json')) return
  const order = orderIn(exchange.body)
  if (order === undefined) {
    exchange.reject(400, 'An order must be a JSON object')
    return
  }
  if (typeof order.card === 'string') exchange.body = JSON.stringify({ ...order, card: `**** ${order.card.slice(-4)}` })
}

function orderIn(body: Uint8Array | undefined): { card?: unknown } | undefined {
  try {
    const order = JSON.parse(Buffer.from(body ?? []).toString()) as unknown
    return typeof order === 'object' && order !== null && !Array.isArray(order) ? order : undefined
  } catch {
    return undefined
  }
}
