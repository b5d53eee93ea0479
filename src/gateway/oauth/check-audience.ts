import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { addressAt, issuerAt } from '../../model/apis/definition/issuer.ts'
import { type Addresses, addressesOf } from '../../model/nodes/addresses.ts'
import { listedResource, normalResource } from '../../model/oauth-clients/oauth-rules.ts'
import type { Exchange } from '../server/exchange.ts'
import { publicAddressOf } from './issuer.ts'
import type { LiveToken } from './live-token.ts'

const OTHER_AUDIENCE = prebuilt('token_audience_differs')

/**
 * Refuses a token of ours that is restricted to other resources than this API (RFC 8707 section 2), at each of its addresses, or at that
 * of the request where no setting tells one. A version is its base API, too, where the request came in by that.
 */
export function flawOfAudience(
  addresses: Addresses,
  x: Exchange,
  api: Api,
  token: LiveToken | undefined,
): Fault | undefined {
  if (token?.audience === undefined) return undefined
  const prefix = x.path.slice(0, x.restAt)
  const known = addressesOf(api, addresses)
  const reached = known.length === 0 ? [publicAddressOf(x, api, addresses)] : known
  const own = reached.flatMap((address) =>
    [issuerAt(address, api, prefix), addressAt(address, prefix)].map(normalResource),
  )
  const isChosen = known.length === 0 && api.domain === ''
  const audience = isChosen ? ownAudience(x, token) : token.audience
  return audience.some((each) => own.includes(normalResource(each))) ? undefined : OTHER_AUDIENCE
}

/**
 * The audience of a token without the other resources that its issuing API allows. Where the Host of a request says which API it is for,
 * such a resource could use the token here, by a request that names its own address.
 */
function ownAudience({ snapshot }: Exchange, { audience = [], issuer }: LiveToken): readonly string[] {
  const { oauth } = snapshot?.apis.get(issuer.apiId)?.api ?? {}
  if (oauth === undefined) return []
  return audience.filter((each) => listedResource(oauth.allowedResources, each) === undefined)
}
