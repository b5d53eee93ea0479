import { definitionFault } from '../../model/apis/check/validate.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION, extensionOf } from '../../model/apis/definition/extension.ts'
import { objectOf, textOf } from '../../model/apis/definition/members.ts'
import { readSocketUrl } from '../../model/network/socket-url.ts'

const REASON = 'is a Unix socket that gateway.upstream_sockets does not list'

/**
 * Refuses an upstream at a Unix socket that the settings do not list: sockets of the machine belong to its other programs. Gateways judge
 * the same, by their own settings. @throws Fault `definition_invalid`
 */
export function refuseUnlistedSocket({ format, definition }: ApiDocument, listed: readonly string[]): void {
  const oas = format === 'oas'
  const url = oas
    ? textOf(objectOf(extensionOf(definition), 'upstream'), 'url')
    : textOf(objectOf(definition, 'proxy'), 'target_url')
  const socket = readSocketUrl(url)
  if (socket === undefined || listed.includes(socket.path)) return
  throw definitionFault([{ at: oas ? [EXTENSION, 'upstream', 'url'] : ['proxy', 'target_url'], reason: REASON }])
}
