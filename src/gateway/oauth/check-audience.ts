import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { issuerAt } from '../../model/apis/definition/issuer.ts'
import { type Addresses, addressesOf } from '../../model/nodes/addresses.ts'
import { normalResource } from '../../model/oauth-clients/resource.ts'
import type { Exchange } from '../server/exchange.ts'
import { publicAddressOf } from './issuer.ts'

const OTHER_AUDIENCE = prebuilt('token_audience_differs')

/**
 * Refuses a token of ours that is restricted to other resources than this API (RFC 8707 section 2), at each of its addresses, or at that
 * of the request where no setting tells one. A version is its base API, too, where the request came in by that.
 */
export function flawOfAudience(
  addresses: Addresses,
  x: Exchange,
  api: Api,
  audience: readonly string[] | undefined,
): Fault | undefined {
  if (audience === undefined) return undefined
  const prefix = x.path.slice(0, x.restAt)
  const known = addressesOf(api, addresses)
  const reached = known.length === 0 ? [publicAddressOf(x, api, addresses)] : known
  const own = reached.flatMap((address) =>
    [api, { listenPath: prefix }].map((each) => normalResource(issuerAt(address, each, prefix))),
  )
  return audience.some((each) => own.includes(normalResource(each))) ? undefined : OTHER_AUDIENCE
}
