import { fault } from '../../errors/fault.ts'
import type { ImportOptions } from '../../model/apis/openapi/import.ts'

/** Query parameters of an import by name: texts, and flags. */
const IMPORT_TEXTS = ['upstreamURL', 'listenPath', 'customDomain', 'apiID'] as const
const IMPORT_FLAGS = ['authentication', 'allowList', 'validateRequest', 'mockResponse'] as const

/**
 * Reads what a query says about an import; `text` answers a parameter, '' when it was not sent.
 * @throws Fault `query_invalid` (400) for a flag that is neither true nor false
 */
export function readImportOptions(text: (name: string) => string): ImportOptions {
  const options: { [name: string]: string | boolean } = {}
  for (const name of IMPORT_TEXTS) if (text(name) !== '') options[name] = text(name)
  for (const name of IMPORT_FLAGS) {
    const said = text(name).toLowerCase()
    if (said === '') continue
    if (said !== 'true' && said !== 'false') throw fault('query_invalid', `${name}: must be true or false`)
    options[name] = said === 'true'
  }
  return options as ImportOptions
}
