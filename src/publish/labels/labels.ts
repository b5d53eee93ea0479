import { fault, toFault } from '../../errors/fault.ts'
import { labelIndexEntry } from '../../model/apis/definition/api-metadata.ts'
import { type DocumentId, newDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import {
  type AppliedLabel,
  appliedOf,
  checkValue,
  type Label,
  labelKey,
  readLabel,
  type WantedLabel,
} from '../../model/labels/label.ts'
import { foldCase } from '../../model/text/fold.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { AuditEntry, Change, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts, withLock } from '../documents/parts.ts'

/** Most labels of one API. */
const MOST_APPLIED = 500

/** A label as it was stored. */
export interface SavedLabel {
  readonly id: DocumentId
  readonly label: Label
}

const LABEL = 'label'
/** Labels that an organisation begins with: name and allowed values. */
const DEFAULTS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['Business Domain', []],
  ['API Criticality', ['Tier 1', 'Tier 2', 'Tier 3']],
]

/** The changes that give a new organisation its first labels; they belong into the commit that makes it. */
export function defaultLabels(orgId: string, now: Millis): Change[] {
  return DEFAULTS.map(([name, values]) => {
    const label: Label = { org_id: orgId, name, key: labelKey(name), values }
    return { op: 'put', kind: LABEL, id: newDocumentId(now), body: bodyOf(label), ifRevision: 0 }
  })
}

/** Stores the definition of a new label. @throws Fault `label_invalid` (400), `label_taken` (409) for a name or key in use */
export function createLabel(parts: PublishParts, orgId: string, body: JsonObject, actor: string): Promise<SavedLabel> {
  const label: Label = { org_id: orgId, ...readLabel(body) }
  const id = newDocumentId(clockOf(parts).wall())
  const put: Change = { op: 'put', kind: LABEL, id, body: bodyOf(label), ifRevision: 0 }
  return save(parts, put, label, auditOf(parts, actor, 'label.create', orgId, { id, key: label.key }))
}

/**
 * Changes name and values of a label; its key stays. A value that an API carries stays allowed.
 * @throws Fault `label_invalid` (400), `label_taken` (409), `label_in_use` (409), `revision_conflict` (409)
 */
export function updateLabel(
  parts: PublishParts,
  stored: StoredDocument<'label'>,
  body: JsonObject,
  actor: string,
): Promise<SavedLabel> {
  // In turn with those who apply labels: the value that is taken away is not given out meanwhile.
  return withLock(parts, async () => {
    const before = stored.body
    const label: Label = { ...before, ...readLabel({ name: before.name, key: before.key, ...body }) }
    if (label.key !== before.key) throw fault('label_invalid', 'key: cannot be changed')
    const others =
      label.values.length === 0 ? 0 : (await carriers(parts, before)) - (await carriers(parts, label, label.values))
    if (others > 0) throw inUse(others, 'with a value that is not among them')
    const { id, revision } = stored
    const put: Change = { op: 'put', kind: LABEL, id, body: { ...stored.body, ...bodyOf(label) }, ifRevision: revision }
    return save(parts, put, label, auditOf(parts, actor, 'label.update', label.org_id, { id, key: label.key }))
  })
}

/** Deletes a label that no API carries. @throws Fault `label_in_use` (409), `revision_conflict` (409) */
export function removeLabel(parts: PublishParts, stored: StoredDocument<'label'>, actor: string): Promise<void> {
  return withLock(parts, async () => {
    const label = stored.body
    const number = await carriers(parts, label)
    if (number > 0) throw inUse(number, '')
    const change: Change = { op: 'delete', kind: LABEL, id: stored.id, ifRevision: stored.revision }
    const audit = auditOf(parts, actor, 'label.delete', label.org_id, { id: stored.id, key: label.key })
    await parts.documents.commit([change], audit)
  })
}

/**
 * Applies labels to an API: one that it carries already gets the new value. Answers all that it carries then.
 * @throws Fault `label_invalid` (400) for a label that there is none of, or a value that is not allowed; `not_found` (404)
 */
export function applyLabels(
  parts: PublishParts,
  apiDocument: DocumentId,
  wanted: readonly WantedLabel[],
  actor: string,
): Promise<AppliedLabel[]> {
  return relabel(parts, apiDocument, actor, async (carried, orgId) => {
    const byKey = new Map(carried.map(({ key, value }) => [key, value]))
    for (const { named, value } of wanted) {
      const label = await labelNamed(parts, orgId, named)
      if (label === undefined) throw fault('label_invalid', `there is no label ${named}`)
      checkValue(label, value)
      byKey.set(label.key, value)
    }
    if (byKey.size > MOST_APPLIED)
      throw fault('label_invalid', `an API must not carry more than ${MOST_APPLIED} labels (${byKey.size})`)
    return [...byKey].map(([key, value]) => ({ key, value }))
  })
}

/** Takes a label off an API; `named` is its key or name. @throws Fault `not_found` (404) when the API does not carry it */
export function detachLabel(
  parts: PublishParts,
  apiDocument: DocumentId,
  named: string,
  actor: string,
): Promise<AppliedLabel[]> {
  return relabel(parts, apiDocument, actor, async (carried, orgId) => {
    const key = (await labelNamed(parts, orgId, named))?.key ?? named
    const rest = carried.filter((label) => label.key !== key)
    if (rest.length === carried.length) throw fault('not_found', 'the API does not carry this label')
    return rest
  })
}

async function relabel(
  parts: PublishParts,
  id: DocumentId,
  actor: string,
  edit: (carried: readonly AppliedLabel[], orgId: string) => Promise<AppliedLabel[]>,
): Promise<AppliedLabel[]> {
  return withLock(parts, async () => {
    const stored = await parts.documents.get('api', id)
    if (stored === undefined) throw fault('not_found', 'API not found')
    const { body, revision } = stored
    const orgId = String(body.org_id ?? '')
    const labels = await edit(appliedOf(body), orgId)
    const put: Change = {
      op: 'put',
      kind: 'api',
      id,
      body: { ...body, labels: labels.map((label) => ({ ...label })) },
      ifRevision: revision,
    }
    const detail = { api_id: String(body.api_id), labels: labels.map(({ key, value }) => labelIndexEntry(key, value)) }
    await parts.documents.commit([put], auditOf(parts, actor, 'api.label', orgId, detail))
    return labels
  })
}

/** A label by its key or, in any letter case, its display name; undefined when there is none. */
export async function labelNamed(
  { documents }: Pick<PublishParts, 'documents'>,
  orgId: string,
  named: string,
): Promise<Label | undefined> {
  const found =
    (await documents.find(LABEL, 'org_key', `${orgId}/${named}`)) ??
    (await documents.find(LABEL, 'org_name', `${orgId}/${foldCase(named)}`))
  return found?.body
}

/** How many APIs of the organisation carry a label; with `values` only those that carry one of these. */
async function carriers(
  { documents }: PublishParts,
  { org_id, key }: Label,
  values?: readonly string[],
): Promise<number> {
  const carried =
    values === undefined ? { label_key: key } : { label: values.map((value) => labelIndexEntry(key, value)) }
  return (await documents.list('api', { where: { org_id, ...carried }, limit: 1 })).total
}

function inUse(number: number, how: string): Error {
  return fault('label_in_use', `${number} ${number === 1 ? 'API carries' : 'APIs carry'} it ${how}`.trim())
}

async function save(parts: PublishParts, change: Change & { op: 'put' }, label: Label, audit: AuditEntry) {
  try {
    await parts.documents.commit([change], audit)
  } catch (error) {
    if (toFault(error).code === 'already_exists') throw fault('label_taken', undefined, error)
    throw error
  }
  return { id: change.id, label }
}

function bodyOf(label: Label): JsonObject {
  return { ...label, values: [...label.values] }
}
