import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

interface Joined {
  readonly worker: Worker
  ask(message: object): Promise<Record<string, unknown>>
}

async function startThread(store: SqliteStore): Promise<Joined> {
  const shared = store.share()
  const worker = new Worker(join(import.meta.dirname, '../../worlds/store/joining-thread.ts'), {
    workerData: shared,
    transferList: [shared.port],
  })
  await once(worker, 'message')
  return {
    worker,
    async ask(message) {
      worker.postMessage(message)
      const [answer] = await once(worker, 'message')
      return answer
    },
  }
}

async function open(t: TestContext): Promise<{ store: SqliteStore; thread: Joined }> {
  const store = await openStore({ path: temporaryFolder(t), keepWriter: false })
  const thread = await startThread(store)
  t.after(async () => {
    await store.close()
    await thread.worker.terminate()
  })
  return { store, thread }
}

const put = (name: string) => ({ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: name } }) as const

test('a commit of another thread is answered after the listeners of the owner have run', async (t) => {
  const { store, thread } = await open(t)
  const order: string[] = []
  store.feed.subscribe(({ revision }) => order.push(`heard ${revision}`))
  for (let n = 1; n <= 20; n++) {
    const { revision, heard } = await thread.ask({ commit: `api-${n}` })
    order.push(`answered ${revision}`)
    assert.deepEqual(
      heard,
      Array.from({ length: n }, (_, i) => i + 1),
      'its own listeners have run as well',
    )
  }
  assert.deepEqual(order, Array.from({ length: 20 }, (_, i) => [`heard ${i + 1}`, `answered ${i + 1}`]).flat())
})

test('both threads see and hear what either writes', async (t) => {
  const { store, thread } = await open(t)
  await store.documents.commit([put('from the owner')], undefined)
  assert.deepEqual(await thread.ask({ find: 'from the owner', after: 1 }), { found: 1, heard: [1] })
  assert.equal((await thread.ask({ commit: 'from the thread' })).revision, 2)
  assert.equal((await store.documents.find('api', 'api_id', 'from the thread'))?.revision, 2)
  assert.deepEqual(await thread.ask({ commit: 'from the owner' }), { code: 'already_exists' })
})

test('a thread that dies takes nothing with it, and another can join', async (t) => {
  const { store, thread } = await open(t)
  thread.worker.postMessage({ commit: 'last words' })
  await thread.worker.terminate()
  await store.documents.commit([put('a')], undefined)
  const next = await startThread(store)
  t.after(() => next.worker.terminate())
  assert.equal(typeof (await next.ask({ commit: 'b' })).revision, 'number')
})

test('a thread outlives a writer that starts again, and hears of the end of the store', async (t) => {
  const { store, thread } = await open(t)
  const dead = new Promise((resolve) => store.onWriterEnd(resolve))
  await store.stopWriter()
  await dead
  assert.deepEqual(await thread.ask({ commit: 'a' }), { code: 'store_away' })
  await store.startWriter()
  assert.deepEqual(await thread.ask({ commit: 'a' }), { revision: 1, heard: [1] })
  await store.close()
  assert.deepEqual(await thread.ask({ commit: 'b' }), { code: 'store_away' })
  assert.throws(() => store.share(), { code: 'store_away' })
})

test('a thread that has closed its end and has nothing else to do ends', async (t) => {
  const { store, thread } = await open(t)
  const ended = once(thread.worker, 'exit')
  thread.worker.postMessage({ end: true })
  assert.deepEqual(await ended, [0])
  await store.documents.commit([put('a')], undefined)
})
