import { isDocumentId } from '../../../model/documents/ids.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'

/**
 * The organisation whose portal a public call is meant for: the one that the body names, else the one whose `cname` is the host that
 * was called (the oldest, where several say so), else the default organisation. '' for one that is not there.
 */
export async function portalOrganisation(
  { documents, defaultOrg }: DashboardParts,
  call: Pick<Call, 'header'>,
  named: unknown,
): Promise<string> {
  if (typeof named === 'string' && named !== '')
    return isDocumentId(named) && (await documents.get('organisation', named)) !== undefined ? named : ''
  const host = call.header('host')?.toLowerCase() ?? ''
  const hosts = [...new Set([host, host.replace(/:\d+$/, '')])].filter((one) => one !== '' && one.length <= 255)
  if (hosts.length === 0) return defaultOrg()
  const { rows } = await documents.list('organisation', { where: { cname: hosts }, limit: 1 })
  return rows[0]?.id ?? defaultOrg()
}
