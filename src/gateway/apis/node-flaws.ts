import type { Config } from '../../config/schema.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { type Flaw, pathOf } from '../../model/apis/definition/tree.ts'
import { isPrivateTarget } from '../../model/webhooks/hook.ts'
import type { ApiCatalogue } from './catalogue.ts'

/** A feature of definitions that settings of a gateway leave without effect. */
interface SettingNeed {
  readonly classic: string
  readonly oas: string
  readonly asks: (api: Api) => boolean
  readonly isMet: (config: Config, api: Api) => boolean
  readonly reason: string
}

const hasTls = ({ gateway }: Config) => gateway.tls.enabled

/** Features that definitions can ask for and settings of a node withhold, but for those that do not compile then. */
export const SETTING_NEEDS: readonly SettingNeed[] = [
  {
    ...{ classic: 'use_mutual_tls_auth', oas: 'server.clientCertificates', isMet: hasTls },
    asks: ({ clientCertificates }) => clientCertificates !== undefined,
    reason: 'refuses every request on this node without gateway.tls.enabled: clients show certificates over TLS alone',
  },
  {
    ...{ classic: 'certificates', oas: 'server.customDomain.certificates', isMet: hasTls },
    asks: ({ certificates, domain }) => certificates.length > 0 && domain !== '',
    reason: 'has no effect on this node without gateway.tls.enabled',
  },
  {
    ...{ classic: 'oauth_meta.mutual_tls', oas: 'server.authentication.securitySchemes', isMet: hasTls },
    asks: ({ oauth }) => oauth !== undefined && oauth.mutualTls !== 'off',
    reason: 'binds no token to a client certificate on this node without gateway.tls.enabled',
  },
  {
    ...{ classic: 'cache_options', oas: 'middleware.global.cache' },
    asks: ({ cache }) => cache !== undefined,
    isMet: ({ gateway }) => gateway.cache_bytes > 0,
    reason: 'stores nothing on this node: gateway.cache_bytes is 0',
  },
  {
    ...{ classic: 'detailed_tracing', oas: 'server.detailedTracing' },
    asks: ({ detailedTracing }) => detailedTracing === true,
    isMet: ({ opentelemetry }) => opentelemetry.enabled,
    reason: 'has no effect on this node without opentelemetry.enabled',
  },
  {
    ...{ classic: 'enable_detailed_recording', oas: 'server.detailedActivityLogs' },
    asks: ({ record }) => record?.detailed === true,
    isMet: ({ analytics }) => analytics.records_enabled && analytics.records_kept > 0,
    reason: 'records nothing on this node: analytics.records_enabled is off, or analytics.records_kept is 0',
  },
  {
    ...{ classic: 'event_handlers', oas: 'server.eventHandlers' },
    asks: ({ events }) =>
      [...(events?.handlers ?? []), ...(events?.references ?? [])].some(({ event }) => event === 'TriggerExceeded'),
    isMet: ({ gateway }) => gateway.monitor.enable_trigger_monitors,
    reason: 'TriggerExceeded is never raised on this node without gateway.monitor.enable_trigger_monitors',
  },
  {
    ...{ classic: 'event_handlers', oas: 'server.eventHandlers' },
    asks: ({ events }) => events?.handlers.some(({ target }) => target !== '' && isPrivateTarget(target)) === true,
    isMet: ({ webhooks }) => webhooks.allow_private,
    reason:
      'a webhook on a loopback, link-local or private network is not called by this node: set webhooks.allow_private to let it',
  },
  {
    ...{ classic: 'grpc_web', oas: 'server.grpcWeb' },
    asks: ({ grpcWeb, upstream }) => grpcWeb === true && upstream.targets.every(({ url }) => /^https:/i.test(url)),
    isMet: ({ gateway }) => gateway.proxy_enable_http2,
    reason:
      'needs gateway.proxy_enable_http2 on this node: upstreams with https are asked over HTTP/1.1 without it, which gRPC is not for',
  },
  {
    ...{ classic: 'oauth_meta.registration_policies', oas: 'server.authentication.securitySchemes' },
    asks: ({ oauth }) => oauth !== undefined && oauth.registrationPolicies.length > 0,
    isMet: ({ gateway }, { oauth }) =>
      oauth!.openRegistration || oauth!.clientIdMetadata || gateway.oauth_registration_token !== '',
    reason:
      'policies of registered clients have no effect on this node: no client can register itself without gateway.oauth_registration_token, open registration or client metadata',
  },
]

/** Features of an API that the settings of this node leave without effect, each by its place. */
function settingFlaws(api: Api, config: Config): Flaw[] {
  return SETTING_NEEDS.filter(({ asks, isMet }) => asks(api) && !isMet(config, api)).map(
    ({ classic, oas, reason }) => ({
      at: api.format === 'oas' ? [EXTENSION, ...pathOf(oas)] : pathOf(classic),
      reason,
    }),
  )
}

/**
 * The flaws that this node adds to those of a definition by itself: that the API is not served as stored, with the reason, and features
 * that its settings leave without effect. `id`: the storage id.
 */
export function nodeFlaws(catalogue: ApiCatalogue, config: Config, id: string): Flaw[] {
  const found = catalogue.entryOf(id)
  if (found === undefined) return []
  const { state, reason, api } = found
  if (state === 'failed' || state === 'taken') return [{ at: [], reason: `is stored, but not served: ${reason}` }]
  if (state === 'stale')
    return [{ at: [], reason: `is stored, but not served; the definition before it still is: ${reason}` }]
  return state === 'loaded' && api !== undefined ? settingFlaws(api, config) : []
}
