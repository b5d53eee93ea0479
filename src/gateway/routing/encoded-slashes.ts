import { type Fault, prebuilt } from '../../errors/fault.ts'
import { encodedPath, otherReadings, readablePath } from '../../model/patterns/readable-path.ts'
import { holdsEncodedSlash } from '../../wire/http1/path.ts'
import type { OAuthEndpoints } from '../oauth/endpoints.ts'
import type { Exchange, RouteMatch } from '../server/exchange.ts'

export const ENCODED_SLASH = prebuilt(
  'request_malformed',
  'the path holds an encoded slash or backslash (%2F, %5C), which this API takes only with allowEncodedSlashes (classic: allow_encoded_slashes)',
)
const AMBIGUOUS = prebuilt(
  'request_malformed',
  'with its encoded slashes decoded the path leads to another API, or to an endpoint of the gateway',
)

/**
 * Refuses a path with `%2F` or `%5C` unless the API of the request allows them, and where the path with them decoded belongs to
 * another API, elsewhere below this one, or to one of its endpoints, which no upstream may answer.
 */
export function checkEncodedSlashes(x: Exchange, endpoints: OAuthEndpoints): Fault | undefined {
  if (!holdsEncodedSlash(x.path)) return undefined
  if (!x.chain!.api.allowEncodedSlashes) return ENCODED_SLASH
  const { router } = x.snapshot!
  const match: RouteMatch = { served: undefined, restAt: 0 }
  for (const reading of otherReadings(readablePath(x.path))) {
    const path = encodedPath(reading)
    router.find(x.host, path, match)
    if (match.served?.main !== x.chain || match.restAt !== x.restAt) return AMBIGUOUS
    if (endpoints.isEndpoint(x.chain!.api, path.slice(x.restAt))) return AMBIGUOUS
  }
  return undefined
}
