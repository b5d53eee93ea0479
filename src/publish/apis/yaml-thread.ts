import { stringify } from 'yaml'
import { readYamlDocument, YamlFault } from '../../model/text/yaml-document.ts'
import { serveTasks } from '../../model/threads/task-thread.ts'

const MAX_LENGTH = 16 << 20

/** The request to the thread: a text, and whether it is to become JSON or YAML. */
export interface YamlTask {
  readonly to: 'json' | 'yaml'
  readonly text: string
}

serveTasks<YamlTask>(({ to, text }) => {
  const written = to === 'json' ? readYaml(text) : stringify(JSON.parse(text), { aliasDuplicateObjects: false })
  if (written.length > MAX_LENGTH) throw new Error('its aliases make it too large')
  return written
})

function readYaml(text: string): string {
  try {
    return JSON.stringify(readYamlDocument(text)) ?? 'null'
  } catch (error) {
    throw error instanceof YamlFault ? new Error(`${error.message} at line ${error.line}`) : error
  }
}
