import { servedClassic } from '../convert/convert.ts'
import type { ApiDocument } from './api.ts'
import { flagOf, objectOf, textOf } from './members.ts'
import { type Territory, territoryOf } from './territory.ts'

/**
 * The territory that a definition asks for which cannot be served, in any letter case; undefined for an internal API, and where not even
 * that can be read.
 */
export function requestedTerritory({ format, definition }: ApiDocument): Territory | undefined {
  try {
    const classic = format === 'oas' ? servedClassic(definition) : definition
    if (flagOf(classic, 'internal')) return undefined
    const domain = flagOf(classic, 'domain_disabled') ? '' : textOf(classic, 'domain').toLowerCase()
    return territoryOf({ listenPath: textOf(objectOf(classic, 'proxy'), 'listen_path'), domain, ignoreCase: true })
  } catch {
    return undefined
  }
}
