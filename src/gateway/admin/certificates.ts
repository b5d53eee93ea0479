import { fault } from '../../errors/fault.ts'
import { textOf } from '../../model/apis/definition/members.ts'
import { commonName, goName } from '../../model/certificates/certificate-names.ts'
import type { JsonObject } from '../../model/json/json.ts'
import {
  addCertificate,
  describeCertificate,
  findCertificate,
  removeCertificate,
} from '../../publish/certificates/certificates.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { done, json } from './answer.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'
import type { AdminRoute } from './route.ts'

const PEM_BYTES = 256 * 1024
const PAGE = 1000
const MOST_ASKED = 100

/** `/certs`: certificates for custom domains and upstreams. */
export function certificateRoutes(parts: AdminParts): AdminRoute[] {
  const publish = publishParts(parts)
  return [
    {
      method: 'POST',
      path: '/certs',
      run: async (request) => {
        const pem = (await request.bytes(PEM_BYTES)).toString('latin1')
        const { id, warning, revision } = await addCertificate(publish, {
          pem,
          orgId: request.text('org_id'),
          actor: request.actor,
        })
        await waitUntilServed(parts, revision)
        return json({ id, status: 'ok', message: 'Certificate added', ...(warning !== undefined && { warning }) })
      },
    },
    { method: 'GET', path: '/certs', run: (request) => list(parts, request) },
    {
      method: 'GET',
      path: '/certs/{id}',
      run: async (request) => {
        const ids = request.param('id').split(',')
        if (ids.length > MOST_ASKED) throw fault('query_invalid', `at most ${MOST_ASKED} certificates at once`)
        const found = await Promise.all(ids.map((id) => findCertificate(publish, id)))
        if (ids.length > 1) return json(found.map((stored) => (stored === undefined ? null : shown(stored, request))))
        if (found[0] === undefined) throw fault('not_found', 'Certificate with given SHA256 fingerprint not found')
        return json(shown(found[0], request))
      },
    },
    {
      method: 'DELETE',
      path: '/certs/{id}',
      run: async (request) => {
        const revision = await removeCertificate(publish, request.param('id'), request.actor)
        if (revision !== undefined) await waitUntilServed(parts, revision)
        return done('removed')
      },
    },
  ]
}

/** A certificate as callers may know it, under the path of an alias with names as programs in Go read them. */
function shown({ body }: StoredDocument, { isAlias }: AdminRequest): JsonObject {
  const facts = describeCertificate(body)
  if (!isAlias) return facts
  return { ...facts, issuer: goName(textOf(facts, 'issuer')), subject: goName(textOf(facts, 'subject')) }
}

/** The same in a list, which has common names there. */
function listed({ body }: StoredDocument, { isAlias }: AdminRequest): JsonObject {
  const facts = describeCertificate(body)
  if (!isAlias) return facts
  const { fingerprint: _fingerprint, issuer: _issuer, subject: _subject, ...rest } = facts
  return { ...rest, issuer_cn: commonName(textOf(facts, 'issuer')), subject_cn: commonName(textOf(facts, 'subject')) }
}

/** Ids, or with `mode=detailed` what callers may know of each; of `org_id` where one is named. A thousand a page. */
async function list(parts: AdminParts, request: AdminRequest) {
  const orgId = request.text('org_id')
  const where = orgId === '' ? {} : { where: { org_id: orgId } }
  const offset = ((pageOf(request) ?? 1) - 1) * PAGE
  const { rows, total } = await parts.store.documents.list('certificate', { ...where, offset, limit: PAGE })
  const show = (stored: StoredDocument) =>
    request.text('mode') === 'detailed' ? listed(stored, request) : String(stored.body.cert_id)
  return json({ certs: rows.map(show) }, 200, `X-Pages: ${Math.max(1, Math.ceil(total / PAGE))}\r\n`)
}
