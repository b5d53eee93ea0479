import type { DocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import {
  configurationOf,
  type PortalConfiguration,
  readConfiguration,
} from '../../../model/portal/settings/portal-configuration.ts'
import type { Documents } from '../../../store/ports/ports.ts'
import type { PublishParts } from '../../documents/parts.ts'
import { createSingleton, findSingleton, saveSingleton } from './single-document.ts'

const KIND = 'portal_configuration'

/** How the portal of an organisation behaves; as usual when nobody has said anything. One indexed read. @throws Fault `store_away` */
export async function portalConfiguration(
  parts: { readonly documents: Pick<Documents, 'find'> },
  orgId: string,
): Promise<PortalConfiguration> {
  return configurationOf(orgId, (await findSingleton(parts, KIND, orgId))?.body)
}

/** Who says what about a portal. */
export interface ConfigurationChange {
  readonly orgId: string
  readonly sent: JsonObject
  readonly actor: string
}

/** Changes the configuration of a portal, or makes it: what is not sent stays. @throws Fault `portal_invalid` (400), `revision_conflict` (409) */
export function saveConfiguration(
  parts: PublishParts,
  { orgId, sent, actor }: ConfigurationChange,
): Promise<DocumentId> {
  return saveSingleton(parts, { kind: KIND, orgId, actor, edit: (before) => readConfiguration(sent, before) })
}

/** Makes the configuration of a portal. @throws Fault `portal_invalid` (400), `portal_taken` (409) when there is another one already */
export function createConfiguration(
  parts: PublishParts,
  { orgId, sent, actor }: ConfigurationChange,
): Promise<DocumentId> {
  const { org_id: _org, ...said } = sent
  const saysNothing = Object.keys(said).length === 0
  const edit = () => readConfiguration(sent)
  return createSingleton(parts, { kind: KIND, orgId, actor, edit, saysNothing, name: 'portal configuration' })
}
