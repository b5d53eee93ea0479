import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { findApi } from '../../publish/apis/apis.ts'
import { versionLines } from '../../publish/apis/version-lines.ts'
import { type AdminAnswer, json } from './answer.ts'
import { type AdminParts, publishParts } from './parts.ts'
import type { AdminRequest } from './request.ts'

/** Answers an API and the APIs that are versions of it. @throws Fault `not_found` (404) */
export async function listVersions(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const base = documentOf((await findApi(publishParts(parts), request.param('api'))).body)
  const lines = await versionLines(parts.store, base)
  return json({ status: 'success', apis: lines.map((line) => ({ ...line })) })
}
