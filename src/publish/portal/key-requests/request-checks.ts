import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { redirectFlaw } from '../../../model/oauth-clients/redirect-uri.ts'
import { entriesOf, offersOf } from '../../../model/portal/catalogue/catalogue.ts'
import { appIdsOf } from '../../../model/portal/developers/holdings.ts'
import { configurationFor, type PortalConfiguration } from '../../../model/portal/settings/portal-configuration.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { PublishParts, SecretParts } from '../../documents/parts.ts'
import { findPolicy } from '../../policies/policy-ids.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { accessTypeOf, policyIdOf, wantedPolicies } from '../developers/access-type.ts'
import { checkSubscribable } from '../developers/developer-keys.ts'
import { portalConfiguration } from '../settings/configuration.ts'

/** The access that a request asks for, looked up. */
export interface RequestedAccess {
  readonly policies: readonly StoredDocument[]
  /** By the `id` that keys name them by, each once. */
  readonly policyIds: readonly string[]
  readonly sort: 'key' | 'oauth'
  /** Entries of the catalogue that offer these policies. */
  readonly entries: readonly JsonObject[]
  readonly configuration: PortalConfiguration
  /** True when it needs approval: by the portal, an entry, or a third party that the developer is sent to. */
  readonly waits: boolean
  /** Where the developer is sent; '' = nowhere. */
  readonly redirectTo: string
}

/** The rules of a request besides its policies. */
interface RequestRules {
  /** Throws for policies that the caller must not use. */
  readonly checkPolicy: (policy: StoredDocument | undefined) => void
  /** Of the request; '' = none. */
  readonly redirectUri: string
}

/**
 * Looks up what a request names, and refuses what no key could be made of.
 * @throws Fault `subscription_refused` (400) naming what is wrong, `access_unserved` (400) naming the sort of key, `key_needless` (400)
 */
export async function resolveRequest(
  parts: PublishParts,
  orgId: string,
  named: readonly string[],
  { checkPolicy, redirectUri }: RequestRules,
): Promise<RequestedAccess> {
  for (const id of named) {
    // Before anything else is said of it.
    checkPolicy(await findPolicy(parts, id, orgId))
  }
  const policies = await wantedPolicies(parts, orgId, named)
  const policyIds = policies.map(policyIdOf)
  const configuration = await portalConfiguration(parts, orgId)
  const all = entriesOf((await catalogueOf(parts, orgId))?.body)
  const entries = offersOf(all, policies)
  if (entries.some((entry) => entry.is_keyless === true)) throw fault('key_needless')
  const { type: sort } = await accessTypeOf(parts, policies, redirectUri !== '')
  const rules = entries.map(({ config }) => configurationFor(configuration, isObject(config) ? config : {}))
  const every = rules.length === 0 ? [configuration] : rules
  const redirect = every.find((each) => each.redirect_on_key_request)
  return {
    ...{ policies, policyIds, sort, entries, configuration },
    waits: redirect !== undefined || every.some((each) => each.require_key_approval),
    redirectTo: redirect?.redirect_to ?? '',
  }
}

/** @throws Fault `request_refused` (400) for several policies where the portal offers one at a time */
export function checkSelection({ policies, configuration }: RequestedAccess): void {
  if (policies.length > 1 && !configuration.enable_multi_selection)
    throw fault('request_refused', 'apply_policies: one policy at a time, enable_multi_selection is off')
}

/**
 * Refuses, before it waits for approval, what the developer has already or may not have: a second subscription to a policy, an OAuth
 * app without a redirect URI or beyond the limit. @throws Fault `subscription_refused` (400)
 */
export async function checkEligible(
  parts: SecretParts,
  { sort, policyIds, configuration }: RequestedAccess,
  developer: StoredDocument,
  redirectUri: string,
): Promise<void> {
  if (sort === 'key') {
    await checkSubscribable(parts, developer, policyIds)
    return
  }
  if (policyIds.length > 1) throw fault('subscription_refused', 'apply_policies: an OAuth app has one policy')
  const flaw = redirectUri === '' ? 'is missing' : redirectFlaw(redirectUri, false)
  if (flaw !== undefined) throw fault('subscription_refused', `oauth_info.redirect_uri: ${flaw}`)
  const limit = configuration.oauth_usage_limit
  if (limit !== -1 && appIdsOf(developer.body).length >= limit)
    throw fault('subscription_refused', `oauth_usage_limit: a developer may have ${limit} OAuth apps`)
}
