import { Type } from 'typebox'
import { Fault, fault } from '../../errors/fault.ts'
import { readCertificate } from '../../model/certificates/certificate.ts'
import { certificateRefs } from '../../model/certificates/certificate-refs.ts'
import type { JsonObject } from '../../model/json/json.ts'
import {
  addCertificate,
  describeCertificate,
  findCertificate,
  removeCertificate,
  unlinkCertificate,
} from '../../publish/certificates/certificates.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { certificateNamesOf, checkCertificateUnused } from '../access/used-by-others.ts'
import { type Answer, bare, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { PageCount } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { pageOf, pagesOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const FINGERPRINT = /^[0-9a-f]{64}$/

const PATH = '/api/certs'
const READ = { permission: 'certs', intent: 'read' } as const
const WRITE = { permission: 'certs', intent: 'write' } as const
const MOST_BYTES = 256 * 1024

const text = Type.String()
const Details = Type.Object(
  {
    id: Type.String({ description: 'Id of the certificate: that of its organisation, then its SHA-256 fingerprint.' }),
    fingerprint: Type.String({ description: 'SHA-256 fingerprint in hexadecimal digits.' }),
    has_private: Type.Boolean({ description: 'True where the private key is stored too.' }),
    issuer: Type.String({ description: 'Distinguished name of the issuer.' }),
    subject: Type.String({ description: 'Distinguished name of the subject.' }),
    not_before: moment('Start of its validity (RFC 3339).'),
    not_after: moment('End of its validity (RFC 3339).'),
    dns_names: Type.Array(text, { description: 'Host names of the certificate.' }),
    is_ca: Type.Boolean({ description: 'True for a certificate of an authority.' }),
  },
  { title: 'CertificateDetails' },
)
const Basics = Type.Object(
  {
    id: Type.String({ description: 'Id of the certificate: that of its organisation, then its SHA-256 fingerprint.' }),
    issuer_cn: Type.String({ description: 'Common name of the issuer.' }),
    subject_cn: Type.String({ description: 'Common name of the subject.' }),
    dns_names: Type.Array(text, { description: 'Host names of the certificate.' }),
    has_private: Type.Boolean({ description: 'True where the private key is stored too.' }),
    not_before: moment('Start of its validity (RFC 3339).'),
    not_after: moment('End of its validity (RFC 3339).'),
    is_ca: Type.Boolean({ description: 'True for a certificate of an authority.' }),
  },
  { title: 'CertificateBasics' },
)
const Added = Type.Object(
  {
    id: Type.String({ description: 'Id of the certificate, for definitions and settings.' }),
    message: Type.Literal('Certificate added', { description: 'Always `Certificate added`.' }),
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
    warning: Type.Optional(Type.String({ description: 'Present when the certificate is not valid now.' })),
  },
  { title: 'CertificateAdded' },
)
const DoneShape = Type.Object(
  {
    message: Type.String({ description: 'Outcome, as text for people.' }),
    status: Type.Literal('ok', { description: 'Always `ok`.' }),
  },
  { title: 'CertificateDone' },
)
const Uses = Type.Object(
  {
    cert_id: Type.String({ description: 'Id of the certificate.' }),
    pages: PageCount,
    apis: Type.Array(
      Type.Object({
        api_id: Type.String({ description: 'Id of the API.' }),
        name: Type.String({ description: 'Name of the API.' }),
        usage_types: Type.Array(text, { description: 'What the API uses it for.' }),
      }),
      { description: 'APIs that use the certificate.' },
    ),
  },
  { title: 'CertificateUses' },
)

/** Certificates for custom domains, for clients and for upstreams. Private keys go in and never come out. */
export function certificateRoutes(parts: DashboardParts): Route[] {
  return [...listRoutes(parts), ...oneRoutes(parts), ...useRoutes(parts)]
}

function listRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List certificate ids, or with mode=detailed all details',
      query: { p: Type.Integer(), mode: text },
      answers: {
        200: Type.Object({
          certs: Type.Optional(Type.Array(text, { description: 'Ids of certificates. Absent with `mode=detailed`.' })),
          cert_basics: Type.Optional(Type.Array(Basics, { description: 'Certificates, with `mode=detailed`.' })),
          pages: PageCount,
        }),
      },
      run: (call) =>
        call.query('mode') === 'detailed'
          ? list(parts, call, 'cert_basics', basicsOf)
          : list(parts, call, 'certs', ({ cert_id: id }) => String(id)),
    },
    {
      method: 'GET',
      path: `${PATH}/details`,
      access: READ,
      summary: 'List certificates with all details',
      query: { p: Type.Integer() },
      answers: {
        200: Type.Object({
          certificates: Type.Array(Details, { description: 'Certificates of the page.' }),
          pages: PageCount,
        }),
      },
      run: (call) => list(parts, call, 'certificates', describeCertificate),
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Upload a certificate: the first file of a form, in PEM, with its chain and optionally its private key',
      refusals: [404],
      body: Type.Object({}, { description: 'PEM.' }),
      bodyIs: 'upload',
      answers: { 200: Added },
      run: (call) => add(parts, call),
    },
  ]
}

function oneRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: `${PATH}/{id}`,
      access: READ,
      summary: 'Read the details of a certificate',
      answers: { 200: Details },
      run: async (call) => bare(describeCertificate((await readableCertificate(parts, call)).body)),
    },
    {
      method: 'DELETE',
      path: `${PATH}/{id}`,
      access: WRITE,
      summary: 'Delete a certificate',
      answers: { 200: DoneShape },
      run: async (call) => {
        const { body } = await readableCertificate(parts, call, 'Could not delete certificate.')
        await checkCertificateUnused(parts, call, body)
        await removeCertificate(parts, String(body.cert_id), call.actor!.email)
        return bare({ message: 'removed', status: 'ok' })
      },
    },
  ]
}

function useRoutes(parts: DashboardParts): Route[] {
  const uses = (path: string): Route => ({
    method: 'GET',
    path,
    access: READ,
    summary: 'List the APIs that use a certificate',
    query: { p: Type.Integer() },
    answers: { 200: Uses },
    run: (call) => usesOf(parts, call),
  })
  return [
    uses(`${PATH}/{id}/apis`),
    uses(`${PATH}/dependencies/{id}`),
    {
      method: 'DELETE',
      path: `${PATH}/dependencies/{id}`,
      access: WRITE,
      summary: 'Remove a certificate from all APIs that use it',
      answers: { 200: DoneShape },
      run: (call) => unlink(parts, call),
    },
  ]
}

function list(parts: DashboardParts, call: Call, name: string, show: (body: JsonObject) => JsonObject | string) {
  const query = { where: call.visibility.whereOrg() }
  return listed(parts.documents, 'certificate', query, pageOf(call), { name, shape: ({ body }) => show(body) })
}

async function add(parts: DashboardParts, call: Call): Promise<Answer> {
  const bytes = call.bytes()
  if (bytes.length > MOST_BYTES) throw fault('body_too_large')
  const pem = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const { orgId, email: actor } = call.actor!
  try {
    const { id, warning } = await addCertificate(parts, { pem, orgId, actor })
    return bare({ id, message: 'Certificate added', status: 'ok', ...(warning !== undefined && { warning }) })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'already_exists') throw error
    const id = orgId + readCertificate(pem).fingerprint
    return refused(404, `Could not create certificate.Certificate with ${id} ID already exists`)
  }
}

async function usesOf(parts: DashboardParts, call: Call): Promise<Answer> {
  const { body } = await readableCertificate(parts, call)
  const where = { ...call.visibility.where(), certificate: certificateNamesOf(body) }
  const page = pageOf(call)
  const found: StoredDocument[] = []
  let total = 0
  if (page === 'all') {
    for await (const batch of parts.documents.each('api', { where })) found.push(...batch)
  } else {
    const listed = await parts.documents.list('api', { where, ...page })
    found.push(...listed.rows)
    total = listed.total
  }
  const apis = found.map((row) => ({
    api_id: String(row.body.api_id),
    name: String(row.body.name),
    usage_types: usesIn(row, certificateNamesOf(body)),
  }))
  return bare({ cert_id: String(body.cert_id), pages: pagesOf(total, page), apis })
}

/** All or none: who does not see one of the APIs cannot say what its owners can do without. @throws Fault `not_owner` (401) */
async function unlink(parts: DashboardParts, call: Call): Promise<Answer> {
  const { body } = await readableCertificate(parts, call)
  const where = { ...call.visibility.whereOrg(), certificate: certificateNamesOf(body) }
  const found: StoredDocument[] = []
  for await (const batch of parts.documents.each('api', { where })) found.push(...batch)
  if (found.some((stored) => !call.visibility.api(stored))) throw fault('not_owner')
  await unlinkCertificate(parts, body, found, call.actor!.email)
  return bare({ message: 'removed from all APIs', status: 'ok' })
}

function basicsOf(body: JsonObject): JsonObject {
  const { id, issuer, subject, dns_names, has_private, not_before, not_after, is_ca } = describeCertificate(body)
  return {
    id: id!,
    issuer_cn: commonName(issuer),
    subject_cn: commonName(subject),
    dns_names: dns_names!,
    has_private: has_private!,
    not_before: not_before!,
    not_after: not_after!,
    is_ca: is_ca!,
  }
}

/** The `CN` of a name that holds one attribute in each line. */
function commonName(name: unknown): string {
  return /^CN=(.*)$/m.exec(String(name))?.[1] ?? ''
}

function usesIn({ body }: StoredDocument, names: readonly string[]): string[] {
  const uses = certificateRefs(body).filter(({ name }) => names.includes(name))
  return [...new Set(uses.map(({ use }) => use))]
}

/**
 * The certificate that the path names by its id, or by its fingerprint alone.
 * @throws Fault `not_found` (404) with `missing`, `certificate_not_owned` (400) for an id of another organisation, taken or not
 */
async function readableCertificate(
  parts: DashboardParts,
  call: Call,
  missing = 'Certificate with given SHA256 fingerprint not found',
): Promise<StoredDocument> {
  const id = call.param('id')
  const orgId = call.actor?.orgId ?? ''
  const found = await findCertificate(parts, FINGERPRINT.test(id) ? orgId + id : id)
  if (found !== undefined && call.visibility.org(found)) return found
  const own = id.startsWith(orgId) && FINGERPRINT.test(id.slice(orgId.length))
  if (found === undefined && (own || FINGERPRINT.test(id) || orgId === '')) throw fault('not_found', missing)
  throw fault('certificate_not_owned')
}
