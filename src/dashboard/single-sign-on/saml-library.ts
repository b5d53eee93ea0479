import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml'
import type { Millis } from '../../model/time/clock.ts'

/** The settings of a profile for the library: plain values, so that they can be sent to a thread. */
export type PlainSamlOptions = Pick<
  SamlConfig,
  | 'issuer'
  | 'audience'
  | 'callbackUrl'
  | 'entryPoint'
  | 'logoutCallbackUrl'
  | 'logoutUrl'
  | 'idpCert'
  | 'acceptedClockSkewMs'
  | 'maxAssertionAgeMs'
  | 'requestIdExpirationPeriodMs'
  | 'forceAuthn'
  | 'privateKey'
  | 'decryptionPvk'
>

/**
 * The library, for one of our messages with this id. Where it judges a response, `requestedAt` is the time of that request.
 * The ID proves that it is ours, so the library has nothing to store.
 */
export function samlLibrary(options: PlainSamlOptions, requestId: string, requestedAt?: Millis): SAML {
  return new SAML({
    ...options,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    validateInResponseTo: ValidateInResponseTo.always,
    generateUniqueId: () => requestId,
    cacheProvider: {
      saveAsync: async () => null,
      removeAsync: async () => null,
      getAsync: async (id) =>
        requestedAt === undefined || id !== requestId ? null : new Date(requestedAt).toISOString(),
    },
  })
}
