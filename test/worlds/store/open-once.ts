// A process that opens a store and says whether it could; with `hold` it keeps it until it is killed.
import { Fault } from '../../../src/errors/fault.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'

const [path = '', hold] = process.argv.slice(2)
try {
  const store = await openStore({ path })
  process.stdout.write('opened\n')
  if (hold === undefined) await store.close()
  // A test that fails must not leave it behind: it lives as long as its input is open.
  else process.stdin.on('end', () => process.exit()).resume()
} catch (error) {
  if (!(error instanceof Fault)) throw error
  process.stdout.write(`refused ${error.code} ${error.message}\n`)
}
