import { parentPort, workerData } from 'node:worker_threads'
import { parseDocument, stringify } from 'yaml'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100
const MAX_LENGTH = 16 << 20

/** What the thread is started with: a text, and whether it is to become JSON or YAML. */
interface Task {
  readonly to: 'json' | 'yaml'
  readonly text: string
}

/** Posts the text in the other language, or says why not. */
function main({ to, text }: Task): void {
  try {
    const written = to === 'json' ? readYaml(text) : stringify(JSON.parse(text), { aliasDuplicateObjects: false })
    if (written.length > MAX_LENGTH) throw new Error('its aliases make it too large')
    parentPort?.postMessage({ written })
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    parentPort?.postMessage({ reason: line.slice(0, 200) })
  }
}

function readYaml(text: string): string {
  // `uniqueKeys` compares every key with every other: minutes for a map of 60,000.
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: false, logLevel: 'silent' })
  const [first] = document.errors
  if (first !== undefined) throw first
  return JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES })) ?? 'null'
}

main(workerData as Task)
