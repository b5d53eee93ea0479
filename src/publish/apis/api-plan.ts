import { toFault } from '../../errors/fault.ts'
import type { Api, ApiDocument } from '../../model/apis/definition/api.ts'
import { textsOf } from '../../model/apis/definition/members.ts'
import { documentOf, type StoredMore, storedBody, versionIdsOf } from '../../model/apis/definition/stored-api.ts'
import { readApi, readingApi } from '../../model/apis/read/read.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { Change, Documents, StoredDocument } from '../../store/ports/ports.ts'

interface After {
  readonly document: ApiDocument
  readonly api: Api
  more: StoredMore
}

interface Entry {
  readonly before: StoredDocument | undefined
  /** undefined = deleted. */
  after: After | undefined
}

/**
 * The changes of one commit to APIs: each document once, for all reasons. An API and those that it names
 * as versions know of each other: the one by its definition, the others by `base_ids`, which the plan keeps in step.
 */
export class ApiPlan {
  readonly #documents: Documents
  readonly #entries = new Map<DocumentId, Entry>()

  constructor(documents: Documents) {
    this.#documents = documents
  }

  /** Makes a new API. */
  add(id: DocumentId, document: ApiDocument, api: Api, more: StoredMore): void {
    this.#entries.set(id, { before: undefined, after: { document, api, more } })
  }

  /** Replaces the stored or planned definition. @throws Fault as `readApi` */
  write(stored: StoredDocument, document: ApiDocument, more: StoredMore = {}, api = readApi(document)): void {
    const planned = this.#entries.get(stored.id)?.after
    this.#entries.set(stored.id, {
      before: stored,
      after: { document, api, more: { before: stored.body, ...planned?.more, ...more } },
    })
  }

  remove(stored: StoredDocument): void {
    this.#entries.set(stored.id, { before: stored, after: undefined })
  }

  /** Rewrites the definition of each API that has this one as a version, but for those that are deleted. */
  async editBases(apiId: string, edit: (base: ApiDocument) => JsonObject): Promise<void> {
    for (const base of await basesOf(this.#documents, apiId)) {
      const planned = this.#entries.get(base.id)
      if (planned !== undefined && planned.after === undefined) continue
      const document = planned?.after?.document ?? documentOf(base.body)
      const edited = { ...document, definition: edit(document) }
      this.write(base, edited, {}, await inTurns(readingApi(edited)))
    }
  }

  /** Everything that is to be committed. @throws Fault `store_away` */
  async changes(): Promise<Change[]> {
    const entries = [...this.#entries.values()]
    for (const { before, after } of entries)
      if (after !== undefined && apiIdOf(before) !== after.document.api_id) await this.#findBases(after)
    for (const { before, after } of entries) {
      const [wasId, isId] = [apiIdOf(before), after?.document.api_id]
      const was = textsOf(before?.body, 'version_ids')
      const is = after === undefined ? [] : versionIdsOf(after.api)
      for (const id of was) if (wasId !== isId || !is.includes(id)) await this.#mark(id, { without: wasId! })
      if (after === undefined) continue
      for (const id of is) if (wasId !== isId || !was.includes(id)) await this.#mark(id, { with: after.document })
    }
    return [...this.#entries].map(([id, entry]) => toChange(id, entry))
  }

  /** An API that is new under its id may be named as a version already. */
  async #findBases(after: After): Promise<void> {
    const { api_id, org_id } = after.document
    const bases = await basesOf(this.#documents, api_id)
    const ids = bases.filter(({ body }) => body.org_id === org_id).map(({ body }) => String(body.api_id))
    after.more = { ...after.more, baseIds: without(ids, api_id) }
  }

  /** Only within an organisation: nobody makes an API of others a version. */
  async #mark(apiId: string, change: { readonly with?: ApiDocument; readonly without?: string }): Promise<void> {
    if (change.with?.api_id === apiId) return
    const planned = [...this.#entries.values()].find(({ after }) => after?.document.api_id === apiId)?.after
    if (planned !== undefined) {
      const ids = planned.more.baseIds ?? textsOf(planned.more.before, 'base_ids')
      if (change.with === undefined || change.with.org_id === planned.document.org_id)
        planned.more = { ...planned.more, baseIds: marked(ids, change) }
      return
    }
    const stored = await this.#documents.find('api', 'api_id', apiId)
    if (stored === undefined || this.#entries.has(stored.id)) return
    if (change.with !== undefined && change.with.org_id !== stored.body.org_id) return
    const api = readable(stored)
    // One that cannot be read any more is served nowhere: what it is a version of waits until it is mended.
    if (api === undefined) return
    this.write(stored, documentOf(stored.body), { baseIds: marked(textsOf(stored.body, 'base_ids'), change) }, api)
  }
}

/** The APIs that have this one as a version; at most 100. */
export async function basesOf(documents: Documents, apiId: string): Promise<readonly StoredDocument[]> {
  const { rows } = await documents.list('api', { where: { version_ids: apiId }, limit: 100 })
  return rows
}

/** A stored definition as it is served; undefined for one that cannot be read any more. */
export function readable(stored: StoredDocument): Api | undefined {
  try {
    return readApi(documentOf(stored.body))
  } catch (error) {
    if (toFault(error).code === 'internal') throw error
    return undefined
  }
}

function marked(ids: readonly string[], change: { readonly with?: ApiDocument; readonly without?: string }): string[] {
  const rest = without(ids, change.without)
  return change.with === undefined ? rest : [...without(rest, change.with.api_id), change.with.api_id]
}

const without = (ids: readonly string[], gone: string | undefined) => ids.filter((id) => id !== gone)

const apiIdOf = (stored: StoredDocument | undefined) => stored && String(stored.body.api_id)

function toChange(id: DocumentId, { before, after }: Entry): Change {
  const ifRevision = before?.revision ?? 0
  if (after === undefined) return { op: 'delete', kind: 'api', id, ifRevision }
  return { op: 'put', kind: 'api', id, body: storedBody(after.document, after.api, after.more), ifRevision }
}
