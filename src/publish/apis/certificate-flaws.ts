import { X509Certificate } from 'node:crypto'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import type { Flaw, TreePath } from '../../model/apis/definition/tree.ts'
import { type CertificateUse, certificateRefs } from '../../model/certificates/certificate-refs.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Documents } from '../../store/ports/ports.ts'

/** Where a definition names certificates of each use. Pins are hashes of keys. */
const PLACES: Readonly<Record<Exclude<CertificateUse, 'pinned'>, readonly [classic: TreePath, oas: TreePath]>> = {
  custom_domain: [['certificates'], [EXTENSION, 'server', 'customDomain', 'certificates']],
  client: [['client_certificates'], [EXTENSION, 'server', 'clientCertificates', 'allowlist']],
  upstream: [['upstream_certificates'], [EXTENSION, 'upstream', 'mutualTLS']],
}

/**
 * The certificates that a definition names and nobody has stored, and the CAs that it accepts clients of and that cannot issue certificates, each
 * by its place. @throws Fault `store_away`
 */
export async function certificateFlaws(documents: Documents, document: ApiDocument): Promise<Flaw[]> {
  const { format, definition, org_id: orgId } = document
  const flaws: Flaw[] = []
  for (const { name, use } of certificateRefs({ format, definition })) {
    if (use === 'pinned') continue
    const found =
      (await documents.find('certificate', 'cert_id', name)) ??
      (await documents.find('certificate', 'cert_id', orgId + name))
    const at = PLACES[use][format === 'oas' ? 1 : 0]
    // A missing warning would show that another organisation has it.
    if (found === undefined || (found.body.org_id ?? '') !== orgId) {
      flaws.push({ at, reason: `names certificate ${name}, which is not stored` })
      continue
    }
    const flaw = use === 'client' && found.body.is_ca === true ? await flawOfAuthority(found.body) : undefined
    if (flaw !== undefined) flaws.push({ at, reason: `names CA ${name}, which vouches for no client: ${flaw}` })
  }
  return flaws
}

async function flawOfAuthority({ certificate }: JsonObject): Promise<string | undefined> {
  // Loaded where it is needed: few definitions name CAs.
  const { readAuthority } = await import('../../model/certificates/certificate-path.ts')
  const read = readAuthority(new X509Certificate(String(certificate)))
  return typeof read === 'string' ? read : undefined
}
