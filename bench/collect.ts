import { setTimeout as wait } from 'node:timers/promises'
import type { Product } from './product.ts'

const SETTLE_MS = 500
const COLLECTED_WITHIN_MS = 30_000

/**
 * Resident memory of the product once its garbage is collected: what it holds, not what it has not cleaned up yet.
 * The product must have been started with `inspect`.
 */
export async function heldBytes(product: Product): Promise<number> {
  // The second round frees what the finalizers of the first released.
  for (let round = 0; round < 2; round++) {
    await collect(product.inspectPort)
    await wait(SETTLE_MS)
  }
  return product.started.rssBytes()
}

async function collect(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[]
  if (target === undefined) throw new Error('the gateway offers no inspector')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  try {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the garbage is not collected')), COLLECTED_WITHIN_MS)
      socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
      socket.onerror = () => reject(new Error('the inspector hangs up'))
      socket.onmessage = () => {
        clearTimeout(late)
        resolve()
      }
    })
  } finally {
    socket.close()
  }
}
