import { call } from '../calls/call.ts'

/** An organisation as its members see it. */
export interface Organisation {
  readonly id: string
  readonly owner_name: string
  readonly owner_slug: string
  readonly cname: string
  readonly cname_enabled: boolean
  readonly sso_enabled: boolean
  readonly developer_quota: number
  readonly developer_count: number
}

export interface OrganisationPage {
  readonly organisations: readonly Organisation[]
  readonly pages: number
}

export const ORGANISATIONS_KEY = ['organisations'] as const

/** The organisations whose documents the caller sees: the own one; for a user without one, all. */
export function listOrganisations(page: number, signal: AbortSignal): Promise<OrganisationPage> {
  return call('GET', '/api/organisations/list', { query: { p: page }, signal })
}

/** The own organisation. */
export function readOrganisation(signal: AbortSignal): Promise<Organisation> {
  return call('GET', '/api/org', { signal })
}

const ALL = -1

/** All organisations that a user without one may view. @throws CallError */
export async function allOrganisations(signal: AbortSignal): Promise<readonly Organisation[]> {
  return (await listOrganisations(ALL, signal)).organisations
}

/** Views one organisation in this session; '' for all. @throws CallError 403 for users of an organisation */
export function chooseOrganisation(id: string): Promise<unknown> {
  return call('PUT', '/api/session/organisation', { body: { org_id: id } })
}
