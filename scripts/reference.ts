import { helpOf } from '../src/cli/commands/commands.ts'
import { COMMANDS } from '../src/cli/commands/table.ts'

/** The parts of the page about the commands: a section each, from the table that `--help` and completion read. */
export function commandSections(): string[] {
  const sections = COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``)
  return [
    'In a clone: `bin/gatehouse`, or after the first start `npx gatehouse`. Without a command it runs `all`. Settings: [all](../generated/config.md).',
    'Completion of commands, options and settings: `bin/gatehouse completion bash` or `zsh` prints the script.',
    ...sections,
  ]
}
