import { compareSync } from 'bcryptjs'
import { serveTasks } from '../threads/task-thread.ts'

/** A password, and the hash that it is compared with. */
export interface BcryptTask {
  readonly stored: string
  readonly password: string
}

serveTasks<BcryptTask>(({ stored, password }) => compareSync(password, stored))
