import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { AnswerInHand, ExchangeView } from './exchange-view.ts'
import type { ModuleCommand, ModuleReport, ModuleTask, ThreadData } from './messages.ts'

const { files, refs, config, running } = workerData as ThreadData
/** Module state: this file is the program of a thread, which holds the modules of its gateway alone. */
const loaded = new Map<string, object>()

const report = (what: ModuleReport) => parentPort!.postMessage(what)
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 500)

/** Loads every module before the first call. */
async function main(): Promise<void> {
  try {
    for (const [file, path] of files) loaded.set(file, (await import(pathToFileURL(path).href)) as object)
    for (const { file, name } of refs) functionOf(file, name)
  } catch (error) {
    report({ kind: 'broken', reason: reasonOf(error) })
    return
  }
  parentPort!.on('message', (order: ModuleCommand) => {
    if ('ping' in order) report({ kind: 'pong' })
    else void perform(order.id, order.task)
  })
  report({ kind: 'ready' })
}

type Called = (first: object, second?: object) => unknown

function functionOf(file: string, name: string): Called {
  const found = Object.getOwnPropertyDescriptor(loaded.get(file), name)?.value as unknown
  if (typeof found !== 'function') throw new Error(`${file} exports no function ${name}`)
  return found as Called
}

async function perform(id: number, task: ModuleTask): Promise<void> {
  try {
    const exchange = new ExchangeView(task.request, structuredClone(config))
    const answer = task.answer === undefined ? undefined : new AnswerInHand(task.answer)
    for (const { file, name, bodyLimitBytes } of task.refs) {
      const called = functionOf(file, name)
      exchange.showBody(bodyLimitBytes > 0)
      await noted(id, () => (answer === undefined ? called(exchange) : called(answer, exchange)))
      if (exchange.ended) break
    }
    report({ kind: 'done', id, outcome: exchange.outcome(answer) })
  } catch (error) {
    report({ kind: 'thrown', id, reason: reasonOf(error) })
  }
}

/** A function that never returns leaves its number standing. */
function noted(id: number, act: () => unknown): unknown {
  Atomics.store(running, 0, id)
  try {
    return act()
  } finally {
    Atomics.store(running, 0, 0)
  }
}

void main()
