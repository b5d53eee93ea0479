import type { Profile, SAML } from '@node-saml/node-saml'
import { fault, toFault } from '../../errors/fault.ts'
import { type IdpProfile, profileText } from '../../model/single-sign-on/idp-profile.ts'
import { serveTasks } from '../../model/threads/task-thread.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { IdpSubject } from '../sign-in/idp-subject.ts'
import { firstText, type ProvenPerson } from './claims.ts'
import { type PlainSamlOptions, samlLibrary } from './saml-library.ts'
import { asList, type IdpMetadata, readIdpMetadata, xmlAttribute, xmlMember, xmlText } from './saml-metadata.ts'

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'

const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'

/** Names that identity providers give an email address, a forename and a surname. */
const EMAILS = [`${CLAIMS}emailaddress`, 'urn:oid:0.9.2342.19200300.100.1.3', 'email', 'mail', 'emailAddress']

const FORENAMES = [`${CLAIMS}givenname`, 'urn:oid:2.5.4.42', 'givenName', 'firstName']

const SURNAMES = [`${CLAIMS}surname`, 'urn:oid:2.5.4.4', 'sn', 'lastName']

/** The request to the thread: to read metadata of an identity provider, or to judge a response of it. */
export type SamlTask =
  | { readonly task: 'metadata'; readonly xml: string }
  | {
      readonly task: 'judge'
      /** The response, base64. */
      readonly encoded: string
      readonly options: PlainSamlOptions
      /** Our request that it must answer, and the time of that request. */
      readonly requestId: string
      readonly requestedAt: Millis
      readonly profile: Pick<IdpProfile, 'id' | 'config'>
      readonly bearer: Parameters<typeof checkBearer>[1]
    }

/** A response that is in order. */
export interface JudgedResponse {
  readonly assertionId: string
  readonly proven: ProvenPerson
}

export type SamlResult = IdpMetadata | JudgedResponse

serveTasks<SamlTask>(async (asked): Promise<SamlResult> => {
  if (asked.task === 'metadata') return readIdpMetadata(asked.xml)
  const { encoded, options, requestId, requestedAt, profile, bearer } = asked
  const found = await validated(samlLibrary(options, requestId, requestedAt), encoded)
  const { id } = checkBearer(found, bearer)
  return { assertionId: id, proven: provenBy(found, profile) }
})

async function validated(saml: SAML, SAMLResponse: string): Promise<Profile> {
  try {
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse })
    if (profile === null) throw new Error('the response holds no assertion')
    return profile
  } catch (error) {
    throw new Error(`the SAML response is refused: ${toFault(error).message}`)
  }
}

/**
 * Checks of a signed assertion what the library leaves open: who issued it, and that it has a bearer confirmation for us in answer to
 * this request, with an end (SAML 2.0 Profiles section 4.1.4.3). The same members of the response around it are not signed.
 * @throws Fault `sso_failed` (403)
 */
function checkBearer(
  profile: Profile,
  expected: { readonly issuer: string; readonly recipient: string; readonly requestId: string },
): { readonly id: string } {
  const assertion = xmlMember(profile.getAssertion?.(), 'Assertion')
  const [issuer, ...others] = asList(xmlMember(assertion, 'Issuer'))
  if (others.length > 0 || xmlText(issuer) !== expected.issuer)
    throw fault('sso_failed', 'the assertion is not of the issuer that the metadata names')
  const confirmations = asList(xmlMember(xmlMember(assertion, 'Subject'), 'SubjectConfirmation'))
  const bearers = confirmations.filter((one) => xmlAttribute(one, 'Method') === BEARER)
  const fits = (confirmation: unknown) => {
    const data = xmlMember(confirmation, 'SubjectConfirmationData')
    return (
      xmlAttribute(data, 'InResponseTo') === expected.requestId &&
      xmlAttribute(data, 'Recipient') === expected.recipient &&
      xmlAttribute(data, 'NotOnOrAfter') !== ''
    )
  }
  if (bearers.length === 0 || !bearers.every(fits))
    throw fault('sso_failed', 'the assertion has no bearer confirmation for us and this request')
  const id = xmlAttribute(assertion, 'ID')
  if (id === '') throw fault('sso_failed', 'the assertion has no ID')
  return { id }
}

/** The statements of an assertion about a user. */
function provenBy(profile: Profile, { id, config }: Pick<IdpProfile, 'id' | 'config'>): ProvenPerson {
  const claims = new Map<string, unknown>(Object.entries((profile.attributes ?? {}) as Record<string, unknown>))
  const one = (chosen: string, usual: readonly string[]) =>
    (chosen === '' ? usual : [chosen]).map((name) => firstText(claims.get(name))).find((text) => text !== '') ?? ''
  const subject = typeof profile.nameID === 'string' ? profile.nameID : ''
  const named = profile.nameIDFormat === EMAIL_FORMAT ? subject : ''
  const forename = one(profileText(config, 'SAMLForenameClaim'), FORENAMES)
  const surname = one(profileText(config, 'SAMLSurnameClaim'), SURNAMES)
  const email = one(profileText(config, 'SAMLEmailClaim'), EMAILS)
  return {
    claims,
    issuer: xmlText(xmlMember(xmlMember(profile.getAssertion?.(), 'Assertion'), 'Issuer')),
    // Another at each sign-in: nothing that an account can be bound to (SAML 2.0 Core section 8.3.8).
    subject: profile.nameIDFormat === TRANSIENT ? '' : subject,
    userId: subject,
    attributesTrusted: true,
    address: 'verified',
    email: email === '' && profileText(config, 'SAMLEmailClaim') === '' ? named : email,
    displayName: [forename, surname].filter((text) => text !== '').join(' '),
    ...(subject !== '' && { samlSubject: subjectBy(profile, id, subject) }),
  }
}

/** The name ID that a log-out needs (SAML 2.0 Core section 3.7.1). */
function subjectBy(profile: Profile, profileId: string, nameId: string): IdpSubject {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    profile: profileId,
    nameId,
    format: text(profile.nameIDFormat),
    nameQualifier: text(profile.nameQualifier),
    spNameQualifier: text(profile.spNameQualifier),
    sessionIndex: text(profile.sessionIndex),
  }
}
