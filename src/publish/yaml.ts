import { Worker } from 'node:worker_threads'
import { fault } from '../errors/fault.ts'

const MAX_BYTES = 2 << 20
const LONGEST_MS = 20_000
const YAML_TYPE = /^(?:application|text)\/(?:[a-z0-9.+-]*\+)?(?:x-)?ya?ml\b/i

/** True when a Content-Type says YAML (RFC 9512, and what was in use before). */
export function isYaml(contentType: string | undefined): boolean {
  return contentType !== undefined && YAML_TYPE.test(contentType.trim())
}

/**
 * Turns YAML 1.2 into JSON text, one at a time, on a thread that lives for one document: the reader takes two seconds for a
 * megabyte, and nobody else shall wait for it.
 * @throws Fault `body_malformed` (400) with the reason, `body_too_large` (413) over 2 MiB
 */
export function yamlToJson(text: string): Promise<string> {
  if (Buffer.byteLength(text) > MAX_BYTES) return Promise.reject(fault('body_too_large', 'YAML over 2 MiB'))
  return queued({ to: 'json', text }).catch((error: Error) => {
    throw fault('body_malformed', `the body is not YAML that can be read: ${error.message}`)
  })
}

/** Turns JSON text into YAML 1.2 in the same way. @throws Fault `internal` when it takes too long or grows too large */
export function jsonToYaml(text: string): Promise<string> {
  return queued({ to: 'yaml', text }).catch((error: Error) => {
    throw fault('internal', `a document could not be written as YAML: ${error.message}`)
  })
}

interface Task {
  readonly to: 'json' | 'yaml'
  readonly text: string
}

let last: Promise<unknown> = Promise.resolve()

function queued(task: Task): Promise<string> {
  const turn = last.then(() => translate(task))
  last = turn.catch(() => {})
  return turn
}

function translate(task: Task): Promise<string> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url.replace(/yaml\.([jt]s)$/, 'yaml-thread.$1')), {
      name: 'yaml',
      workerData: task,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    const refuse = (reason: string) => reject(new Error(reason))
    const bound = setTimeout(() => {
      refuse(`it takes longer than ${LONGEST_MS / 1000} s`)
      void thread.terminate()
    }, LONGEST_MS)
    thread.on('message', (said: { written?: string; reason?: string }) => {
      if (said.written !== undefined) resolve(said.written)
      else refuse(said.reason ?? '')
    })
    thread.on('error', (error) => refuse(error instanceof Error ? error.message : String(error)))
    thread.on('exit', () => {
      clearTimeout(bound)
      refuse('it is too large')
    })
  })
}
