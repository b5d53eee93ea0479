import { readIncumbent } from '../../process/import-source.ts'
import { BACKUP_COMMANDS } from '../backup/backup-commands.ts'
import { importCommand } from '../import/import-command.ts'
import { MOVE_COMMANDS } from '../moves/move-commands.ts'
import { BOOTSTRAP_COMMAND } from './bootstrap.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion.ts'
import { DOCTOR_COMMAND } from './doctor.ts'
import { EXPLAIN_COMMAND } from './explain.ts'
import { ROTATE_SECRET_COMMAND } from './rotate-secret.ts'
import { SERVING_COMMANDS } from './serve.ts'
import { SETTINGS_COMMAND } from './settings.ts'

const SPOKEN: readonly Command[] = [
  ...SERVING_COMMANDS,
  EXPLAIN_COMMAND,
  BOOTSTRAP_COMMAND,
  DOCTOR_COMMAND,
  SETTINGS_COMMAND,
  ROTATE_SECRET_COMMAND,
  ...BACKUP_COMMANDS,
  ...MOVE_COMMANDS,
  importCommand(readIncumbent),
]

/** The commands of the product, in the order of the general help. */
export const COMMANDS: readonly Command[] = [...SPOKEN, completionCommand(SPOKEN)]
