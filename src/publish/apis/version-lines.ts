import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { readApi } from '../../model/apis/read/read.ts'
import type { Documents, StoredDocument } from '../../store/ports/ports.ts'
import { apiOfOrg } from './api-ids.ts'
import { versionsOf } from './api-versions.ts'

/** One version of an API as lists show it. */
export interface VersionLine {
  readonly id: string
  readonly name: string
  readonly versionName: string
  readonly internal: boolean
  /** RFC 3339, '' = none. */
  readonly expirationDate: string
  readonly isDefaultVersion: boolean
}

/** An API and the APIs of its organisation that are versions of it, those of them that `shows` lets through. */
export async function versionLines(
  { documents }: { readonly documents: Documents },
  base: ApiDocument,
  shows: (stored: StoredDocument) => boolean = () => true,
): Promise<VersionLine[]> {
  const { name, chosen, versions } = versionsOf(base)
  const itself = line(base, name, chosen === '' || chosen === 'self' || chosen === name)
  const others: VersionLine[] = []
  for (const [versionName, apiId] of versions) {
    const stored = await apiOfOrg(documents, base.org_id, apiId)
    if (stored !== undefined && apiId !== base.api_id && shows(stored))
      others.push(line(documentOf(stored.body), versionName, chosen === versionName))
  }
  return [itself, ...others]
}

function line(document: ApiDocument, versionName: string, isDefaultVersion: boolean): VersionLine {
  const { internal, expirationDate } = served(document)
  return { id: document.api_id, name: document.name, versionName, internal, expirationDate, isDefaultVersion }
}

/** A stored definition that can no longer be read is listed all the same. */
function served(document: ApiDocument) {
  try {
    const { internal, expiresAt } = readApi(document)
    return { internal, expirationDate: expiresAt === undefined ? '' : new Date(expiresAt).toISOString() }
  } catch {
    return { internal: false, expirationDate: '' }
  }
}
