// A thread that joins the store of its process, as the dashboard does, and does what it is told.
import { parentPort, workerData } from 'node:worker_threads'
import { newDocumentId } from '../../src/model/ids.ts'
import { joinStore } from '../../src/store/sqlite/join.ts'

const store = joinStore(workerData)
const heard: number[] = []
store.feed.subscribe(({ revision }) => heard.push(revision))

parentPort!.on('message', async (message: { commit?: string; find?: string; end?: true }) => {
  if (message.end) {
    await store.close()
    parentPort!.close()
    return
  }
  if (message.find !== undefined) {
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
