import { parentPort } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'

/** A password, and the hash that it is compared with. */
interface Task {
  readonly number: number
  readonly stored: string
  readonly password: string
}

parentPort?.on('message', ({ number, stored, password }: Task) => {
  parentPort?.postMessage({ number, right: compareSync(password, stored) })
})
