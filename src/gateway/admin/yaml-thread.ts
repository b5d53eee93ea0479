import { parentPort, workerData } from 'node:worker_threads'
import { parseDocument } from 'yaml'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100
const MAX_JSON_LENGTH = 16 << 20

/** Reads the YAML text that the thread was started with and posts it as JSON text, or says why not. */
function main(): void {
  try {
    // `uniqueKeys` compares every key with every other: minutes for a map of 60,000.
    const document = parseDocument(String(workerData), {
      version: '1.2',
      schema: 'core',
      uniqueKeys: false,
      logLevel: 'silent',
    })
    const [first] = document.errors
    if (first !== undefined) throw first
    const json = JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES })) ?? 'null'
    if (json.length > MAX_JSON_LENGTH) throw new Error('its aliases make it too large')
    parentPort?.postMessage({ json })
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    parentPort?.postMessage({ reason: line.slice(0, 200) })
  }
}

main()
