import type { Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import type { MemberTexts } from './member-texts.ts'

const AUTHENTICATION = 'server.authentication'
const SCHEME = `${AUTHENTICATION}.securitySchemes.*`
const NOT_SERVED = 'Refused where it is asked for.'

/** The path of a member of a scheme in the extension: '' = of the scheme itself. A path that begins with a dot is the end of several. */
export function schemePath({ declaration, config }: Scheme, path: string): string {
  if (path.startsWith('.')) return path
  const scheme = declaration === undefined ? `${AUTHENTICATION}.${config}` : SCHEME
  return path === '' ? scheme : `${scheme}.${path}`
}

/** Descriptions of `server.authentication`; those of members of one scheme are in its descriptor. */
export const OAS_SCHEME_TEXTS: MemberTexts = {
  'server.authentication': 'How callers prove who they are.',
  'server.authentication.enabled': 'false or absent: the API asks for no credential.',
  'server.authentication.stripAuthorizationData':
    'true: the credential is removed before the request goes to the upstream.',
  'server.authentication.baseIdentityProvider':
    'With several methods that must all be met: the one whose session applies.',
  'server.authentication.securitySchemes':
    'Settings of the security schemes of the document, by their names in `components.securitySchemes`.',
  [`${SCHEME}.enabled`]: 'true: the API accepts this scheme.',
  '.header': 'Header with the credential. Absent: `Authorization`.',
  '.query': 'Query parameter with the credential.',
  '.cookie': 'Cookie with the credential.',
  '.header.name': 'Name of the header.',
  '.query.name': 'Name of the query parameter.',
  '.cookie.name': 'Name of the cookie.',
  [`${SCHEME}.enableClientCertificate`]:
    'Scheme `apiKey`. true: a client certificate is accepted in place of the key, if a key has it as its `certificate`.',
  [`${SCHEME}.signatureValidation`]: `Signature besides the key. ${NOT_SERVED}`,
  [`${SCHEME}.signature`]: `Signature besides the key. ${NOT_SERVED}`,
  'server.authentication.securityProcessingMode':
    '`compliant`: a request must meet one of the combinations of `security`. `legacy`: it must meet every scheme that is on.',
  'server.authentication.security':
    'Combinations of schemes by their names. A request must meet all schemes of one list.',
  'server.authentication.customKeyLifetime': 'Time after which the store deletes keys of this API.',
  'server.authentication.customKeyLifetime.value': 'The time: a duration, or seconds.',
  'server.authentication.customKeyLifetime.respectValidity': 'true: never before the key expires.',
  ...Object.fromEntries(
    SCHEMES.flatMap((scheme) =>
      Object.entries(scheme.oasTexts).map(([path, text]) => [schemePath(scheme, path), text]),
    ),
  ),
}
