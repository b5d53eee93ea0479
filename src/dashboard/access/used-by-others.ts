import { fault } from '../../errors/fault.ts'
import { metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { textOf } from '../../model/apis/definition/members.ts'
import { certificateNames } from '../../model/certificates/certificate-refs.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { keyOfCertificate } from '../../publish/certificates/certificates.ts'
import { checkKeyVisible } from '../keys/key-view.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * Refuses to create, change or delete a webhook that APIs of others tell, by one of these ids or by the name that it has or is to have.
 * @throws Fault `shared_with_others` (403)
 */
export async function checkHookUnused(
  parts: Pick<DashboardParts, 'documents'>,
  call: Pick<Call, 'visibility'>,
  ids: readonly string[],
  bodies: readonly JsonObject[],
): Promise<void> {
  const what = ids.length === 0 ? 'A webhook of this name' : 'The webhook'
  const names = bodies.map((body) => textOf(body, 'name')).filter((name) => name !== '')
  await checkUnusedByOthers(parts, call, what, namesHook(ids, names))
}

/** Says of webhooks whether APIs of others tell them, so that the caller may not change them. */
export async function hooksOfOthers(
  parts: Pick<DashboardParts, 'documents'>,
  { visibility }: Pick<Call, 'visibility'>,
): Promise<(id: string, body: JsonObject) => boolean> {
  if (visibility.everything) return () => false
  const [ids, names] = [new Set<string>(), new Set<string>()]
  for await (const batch of parts.documents.each('api', { where: visibility.whereOrg() }))
    for (const stored of batch) {
      if (visibility.api(stored)) continue
      for (const { hook } of metadataOfApi(stored.body).hook_references ?? []) {
        const { id, name } = isObject(hook) ? hook : {}
        if (typeof id === 'string') ids.add(id)
        if (typeof name === 'string') names.add(name)
      }
    }
  return (id, body) => ids.has(id) || names.has(textOf(body, 'name'))
}

/** The same for a certificate that is to be deleted, and for the key that it is. @throws besides Fault `not_owner` (401) */
export async function checkCertificateUnused(parts: DashboardParts, call: Call, body: JsonObject): Promise<void> {
  const names = certificateNamesOf(body)
  const isUsed = (api: JsonObject) => certificateNames(api).some((name) => names.includes(name))
  await checkUnusedByOthers(parts, call, 'The certificate', isUsed)
  const key = await keyOfCertificate(parts, body)
  if (key !== undefined) await checkKeyVisible(parts, call, key)
}

/** All names by which a definition can refer to a stored certificate. */
export function certificateNamesOf({ cert_id: id, fingerprint }: JsonObject): string[] {
  return [String(id), String(fingerprint)]
}

/** True for an API that tells a webhook of one of these ids or names. */
function namesHook(ids: readonly string[], names: readonly string[]): (api: JsonObject) => boolean {
  return (api) =>
    (metadataOfApi(api).hook_references ?? []).some(({ hook }) => {
      const { id, name } = isObject(hook) ? hook : {}
      return (typeof id === 'string' && ids.includes(id)) || (typeof name === 'string' && names.includes(name))
    })
}

/** Refuses to change or delete what APIs of others use. Says how many, not which. @throws Fault `shared_with_others` (403) */
async function checkUnusedByOthers(
  parts: Pick<DashboardParts, 'documents'>,
  { visibility }: Pick<Call, 'visibility'>,
  what: string,
  uses: (api: JsonObject) => boolean,
): Promise<void> {
  if (visibility.everything) return
  let count = 0
  for await (const batch of parts.documents.each('api', { where: visibility.whereOrg() }))
    for (const stored of batch) if (!visibility.api(stored) && uses(stored.body)) count++
  if (count === 0) return
  throw fault('shared_with_others', `${what} is used by ${count === 1 ? '1 API' : `${count} APIs`} that others own`)
}
