import { fault } from '../../errors/fault.ts'
import type { CommandContext } from '../commands/commands.ts'

/** The file that a command names, by an option or alone. @throws Fault `option_invalid` */
export function fileOf({ options, words }: CommandContext, option: 'input' | 'output'): string {
  const named = options[option]
  const [file = '', ...more] = [...(typeof named === 'string' ? [named] : []), ...words]
  if (file === '' || more.length > 0) throw fault('option_invalid', 'name one file')
  return file
}
