import type { RequestRecord } from '../../api/traffic/requests.ts'
import type { TextName } from '../../texts/say.ts'

/** Where the rule is that a refusal came from; `caller`: no rule, the request itself was at fault. */
type Place = 'settings' | 'authentication' | 'versions' | 'nodes' | 'clients' | 'key' | 'installation' | 'caller'

const PLACES: Readonly<Record<Place, readonly string[]>> = {
  settings: [
    ...['endpoint_forbidden', 'tool_forbidden', 'ip_forbidden', 'api_rate_exceeded', 'body_too_large_api'],
    ...['length_required', 'body_too_large', 'request_invalid', 'patterns_over_budget', 'loop_detected'],
    ...['transform_body_malformed', 'transform_too_large', 'transform_failed', 'answer_too_large'],
    ...['answer_untransformable', 'module_rejected', 'module_failed', 'modules_away', 'module_timeout'],
    ...['mock_missing', 'mock_not_acceptable', 'nothing_stored', 'stored_answer_stands_in', 'inner_answer_cut'],
    ...['inner_timeout', 'upstream_unreachable', 'upstream_unresolved', 'upstream_malformed', 'upstream_pin_mismatch'],
    ...['upstream_identity_missing', 'upstream_timeout', 'upstream_all_down', 'breaker_open', 'scope_missing'],
  ],
  authentication: [
    ...['credential_missing', 'key_unknown', 'user_unknown', 'signature_invalid', 'jwt_keys_away'],
    ...['introspection_away', 'client_certificate_required', 'connection_misdirected', 'client_certificate_early'],
    ...['client_certificate_expired', 'client_certificate_revoked', 'revocation_list_due', 'token_missing'],
    ...['token_of_other_scheme', 'token_unknown', 'token_audience_differs', 'token_proof_missing'],
    ...['token_proof_invalid', 'token_without_rights'],
  ],
  versions: ['version_missing', 'version_unknown', 'version_expired'],
  nodes: ['api_unserved'],
  clients: ['token_client_gone', 'token_expired'],
  key: [
    ...['policies_unusable', 'key_inactive', 'key_expired', 'api_not_in_rights', 'path_not_in_rights'],
    ...['rate_exceeded', 'quota_exceeded'],
  ],
  installation: ['org_rate_exceeded', 'org_quota_exceeded', 'org_inactive'],
  caller: [
    ...['credential_repeated', 'rpc_unreadable'],
    ...['basic_malformed', 'version_repeated', 'api_not_found', 'client_gone', 'request_malformed', 'request_timeout'],
    ...['uri_too_long', 'head_too_large', 'method_not_implemented', 'version_not_supported', 'token_malformed'],
  ],
}

const PLACE_OF: ReadonlyMap<string, Place> = new Map(
  (Object.keys(PLACES) as Place[]).flatMap((place) => PLACES[place].map((code) => [code, place] as const)),
)

/** The rule that refused: a link with the permission that its page needs, or words alone. */
export interface RefusalRule {
  readonly text: TextName
  readonly link?: { readonly to: string; readonly permission: 'apis' | 'keys' }
}

/** The rule that refused a request; undefined for refusals that the console does not know. */
export function ruleOf(record: Pick<RequestRecord, 'ErrorCode' | 'APIID' | 'APIKey'>): RefusalRule | undefined {
  const place = PLACE_OF.get(record.ErrorCode)
  if (place === undefined) return undefined
  if (place === 'caller' || place === 'installation') return { text: `requests.rule.${place}` }
  if (place === 'key') {
    if (record.APIKey === '') return undefined
    const to = `/keys/${encodeURIComponent(record.APIKey)}`
    return { text: 'requests.rule.key', link: { to, permission: 'keys' } }
  }
  const tab = place === 'settings' ? '' : `?tab=${place}`
  const to = `/apis/${encodeURIComponent(record.APIID)}${tab}`
  return { text: `requests.rule.${place}`, link: { to, permission: 'apis' } }
}
