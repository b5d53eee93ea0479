import { parseDocument, stringify } from 'yaml'
import { serveTasks } from '../../model/threads/serve-tasks.ts'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100
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
  // `uniqueKeys` compares every key with every other: minutes for a map of 60,000.
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: false, logLevel: 'silent' })
  const [first] = document.errors
  // Its further lines quote the document.
  if (first !== undefined) throw new Error(first.message.split('\n')[0])
  return JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES })) ?? 'null'
}
