import { Fault, fault } from '../../errors/fault.ts'
import { TaskThread } from '../../model/threads/task-thread.ts'
import type { YamlTask } from './yaml-thread.ts'

const MAX_BYTES = 16 << 20
const LARGE_TEXT = 1 << 20
const YAML_TYPE = /^(?:application|text)\/(?:[a-z0-9.+-]*\+)?(?:x-)?ya?ml\b/i

/** True when a Content-Type says YAML (RFC 9512, and what was in use before). */
export function isYaml(contentType: string | undefined): boolean {
  return contentType !== undefined && YAML_TYPE.test(contentType.trim())
}

/**
 * Turns YAML 1.2 into JSON text on a thread, one at a time: the reader takes up to two seconds for the largest.
 * @throws Fault `body_malformed` (400) with the reason, `body_too_large` (413) over 16 MiB, `busy` (503)
 */
export function yamlToJson(text: string): Promise<string> {
  if (Buffer.byteLength(text) > MAX_BYTES) return Promise.reject(fault('body_too_large', 'YAML over 16 MiB'))
  return readingThread.run({ to: 'json', text }).catch((error: Error) => {
    if (error instanceof Fault) throw error
    throw fault('body_malformed', `the body is not YAML that can be read: ${error.message}`)
  })
}

/** The same for a file: the reason in the reader's own words, behind its line. @throws Error, Fault `busy` (503) */
export function yamlFileToJson(text: string): Promise<string> {
  return readingThread.run({ to: 'json', text }).catch((error: Error) => {
    if (error instanceof Fault) throw error
    const [, reason = error.message, line] = /^(.*) at line (\d+)$/s.exec(error.message) ?? []
    throw new Error(line === undefined ? reason : `line ${line}: ${reason}`)
  })
}

/** Turns JSON text into YAML 1.2 in the same way. @throws Fault `internal` when it takes too long or grows too large */
export function jsonToYaml(text: string): Promise<string> {
  return writingThread.run({ to: 'yaml', text }).catch((error: Error) => {
    if (error instanceof Fault) throw error
    throw fault('internal', `a document could not be written as YAML: ${error.message}`)
  })
}

const SHARED = {
  module: new URL(import.meta.url.replace(/yaml\.([jt]s)$/, 'yaml-thread.$1')),
  withinMs: 20_000,
  mostWaiting: 50,
  // A text of 13 MB leaves 100 MB, beside which a document would be checked.
  isLarge: ({ text }: YamlTask) => text.length > LARGE_TEXT,
}

/** Module state: one thread bounds the CPU of the process, whichever part parses YAML. Its memory is enough for any text within the bounds. */
const readingThread = new TaskThread<YamlTask, string>({ ...SHARED, name: 'yaml', memoryMb: 512 })

/** Module state: the same for what is written, which are documents of our own. */
const writingThread = new TaskThread<YamlTask, string>({ ...SHARED, name: 'yaml-writer', memoryMb: 1024 })
