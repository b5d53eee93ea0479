// A thread that joins the store of its process, as the dashboard does, and runs commands.
import { parentPort, workerData } from 'node:worker_threads'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { joinStore } from '../../../src/store/sqlite/connection/join.ts'

const store = joinStore(workerData)
const heard: number[] = []
const waiting = new Set<() => void>()
store.feed.subscribe(({ revision }) => {
  heard.push(revision)
  for (const look of waiting) look()
})

/** Two ports have no order between them: what the owner wrote before it asked may be heard after. */
function heardOf(revision: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if ((heard.at(-1) ?? 0) < revision) return
      waiting.delete(look)
      resolve()
    }
    waiting.add(look)
    look()
  })
}

parentPort!.on('message', async (message: { commit?: string; find?: string; after?: number; end?: true }) => {
  if (message.end) {
    await store.close()
    parentPort!.close()
    return
  }
  if (message.find !== undefined) {
    await heardOf(message.after ?? 0)
    const found = await store.documents.find('api', 'api_id', message.find)
    parentPort!.postMessage({ found: found?.revision, heard })
    return
  }
  const change = { op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: message.commit! } } as const
  const answer = await store.documents.commit([change], undefined).then(
    (revision) => ({ revision, heard }),
    (error) => ({ code: error.code }),
  )
  parentPort!.postMessage(answer)
})
parentPort!.postMessage('joined')
