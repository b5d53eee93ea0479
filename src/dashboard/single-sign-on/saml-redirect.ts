import { createHmac, randomBytes, verify, X509Certificate } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { parseXml2JsFromString } from '@node-saml/node-saml/lib/xml.js'
import { fault, toFault } from '../../errors/fault.ts'
import { equalSecrets, lookupKey, type SealKey } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { FLOW_MS } from './flow-cookie.ts'
import { asList, checkXml, xmlAttribute, xmlMember, xmlText } from './saml-metadata.ts'

const SHAPE = /^_([0-9a-f]{12})([0-9a-f]{32})([0-9a-f]{64})$/

/** A message that came in a query (SAML 2.0 Bindings section 3.4). */
export interface RedirectQuery {
  readonly message: 'SAMLRequest' | 'SAMLResponse'
  /** Base64 of the compressed message. */
  readonly value: string
  /** '' = none. */
  readonly relayState: string
  /** The bytes that are signed, as they came. */
  readonly signed: string
  readonly algorithm: string
  readonly signature: string
}

/** A log-out request. */
export interface LogoutRequest {
  readonly id: string
  readonly issuer: string
  readonly destination: string
  readonly issuedAt: Millis
  /** `Infinity` where none is given. */
  readonly endsAt: Millis
  readonly nameId: string
  /** The provider's sessions that are meant; none = all. */
  readonly sessionIndexes: readonly string[]
}

const NAMES: readonly string[] = ['SAMLRequest', 'SAMLResponse', 'RelayState', 'SigAlg', 'Signature']
const MOST_QUERY = 32_768
/** A few kilobytes can unpack to gigabytes. */
const MOST_XML = 65_536
const MOST_RELAY_STATE = 1024
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
/** Signatures that count, and their hashes. SHA-1 does not. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map(
  ['sha256', 'sha384', 'sha512'].flatMap((hash) => [
    [`${MORE}rsa-${hash}`, hash],
    [`${MORE}ecdsa-${hash}`, hash],
  ]),
)

/**
 * Takes a query apart, each name once and spelled plainly: what is verified is then what is read.
 * @throws Fault `sso_failed` (403)
 */
export function redirectQuery(url: string): RedirectQuery {
  const [, query = ''] = url.split(/\?(.*)/s)
  if (query.length > MOST_QUERY) throw fault('sso_failed', 'the message is too long')
  const raw = new Map<string, string>()
  for (const pair of query.split('&')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    if (!NAMES.includes(name)) continue
    if (raw.has(name)) throw fault('sso_failed', `${name} is repeated`)
    raw.set(name, value)
  }
  if (raw.has('SAMLRequest') === raw.has('SAMLResponse')) throw fault('sso_failed', 'there is no one message')
  const message = raw.has('SAMLRequest') ? 'SAMLRequest' : 'SAMLResponse'
  const relayState = decoded(raw.get('RelayState'))
  if (relayState.length > MOST_RELAY_STATE) throw fault('sso_failed', 'RelayState is too long')
  return {
    ...{ message, relayState },
    value: decoded(raw.get(message)),
    signed: [message, 'RelayState', 'SigAlg']
      .flatMap((name) => (raw.has(name) ? [`${name}=${raw.get(name)}`] : []))
      .join('&'),
    algorithm: decoded(raw.get('SigAlg')),
    signature: decoded(raw.get('Signature')),
  }
}

/** @throws Fault `sso_failed` (403) unless one of these certificates (base64 of their DER) has signed the query */
export function checkQuerySignature(
  { signed, algorithm, signature }: RedirectQuery,
  certificates: readonly string[],
): void {
  const hash = ALGORITHMS.get(algorithm)
  const bytes = Buffer.from(signature, 'base64')
  if (hash === undefined || bytes.length === 0)
    throw fault('sso_failed', 'the message is not signed, or in a way that does not count')
  const sort = algorithm.includes('#ecdsa-') ? 'ec' : 'rsa'
  const isGood = (certificate: string) => {
    const { publicKey: key } = new X509Certificate(Buffer.from(certificate, 'base64'))
    // XML signatures write the two numbers of ECDSA side by side.
    return (
      key.asymmetricKeyType === sort && verify(hash, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, bytes)
    )
  }
  if (!certificates.some(isGood)) throw fault('sso_failed', 'the signature of the message is wrong')
}

/** Reads a request to log out (SAML 2.0 Core section 3.7.1). Its signature is checked before. @throws Fault `sso_failed` (403) */
export async function readLogoutRequest(encoded: string): Promise<LogoutRequest> {
  const request = xmlMember(await xmlIn(encoded), 'LogoutRequest')
  const [nameId, ...others] = asList(xmlMember(request, 'NameID'))
  const end = xmlAttribute(request, 'NotOnOrAfter')
  const found = {
    id: xmlAttribute(request, 'ID'),
    issuer: xmlText(asList(xmlMember(request, 'Issuer'))[0]),
    destination: xmlAttribute(request, 'Destination'),
    issuedAt: Date.parse(xmlAttribute(request, 'IssueInstant')),
    endsAt: end === '' ? Number.POSITIVE_INFINITY : Date.parse(end),
    nameId: xmlText(nameId).trim(),
    sessionIndexes: asList(xmlMember(request, 'SessionIndex')).map((index) => xmlText(index).trim()),
  }
  if (found.id === '' || found.nameId === '' || others.length > 0)
    throw fault('sso_failed', 'the log-out names no user, or more than one')
  if (Number.isNaN(found.issuedAt) || Number.isNaN(found.endsAt))
    throw fault('sso_failed', 'the log-out does not say when it was asked for')
  return found
}

async function xmlIn(encoded: string): Promise<unknown> {
  try {
    const xml = inflateRawSync(Buffer.from(encoded, 'base64'), { maxOutputLength: MOST_XML }).toString('utf8')
    checkXml(xml)
    return await parseXml2JsFromString(xml)
  } catch (error) {
    throw fault('sso_failed', `the message cannot be read: ${toFault(error).message}`)
  }
}

function decoded(text = ''): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw fault('sso_failed', 'the query is not percent-encoded')
  }
}

/**
 * Makes the id of a SAML request that tells by itself that it is ours, for which profile, and since when: nothing need be stored
 * for strangers who begin a sign-in.
 */
export function newSamlRequestId(sealKey: SealKey, profileId: string, now: Millis): string {
  const front = now.toString(16).padStart(12, '0') + randomBytes(16).toString('hex')
  return `_${front}${macOf(sealKey, profileId, front)}`
}

/** When the request of an id was created; undefined when we did not create it for the profile, or it has expired. */
export function requestMadeAt(sealKey: SealKey, profileId: string, id: string, now: Millis): Millis | undefined {
  const [, time, random, mac] = SHAPE.exec(id) ?? []
  if (time === undefined || random === undefined || mac === undefined) return undefined
  if (!equalSecrets(mac, macOf(sealKey, profileId, time + random))) return undefined
  const madeAt = Number.parseInt(time, 16)
  return madeAt + FLOW_MS > now ? madeAt : undefined
}

function macOf(sealKey: SealKey, profileId: string, front: string): string {
  return createHmac('sha256', lookupKey(sealKey))
    .update(JSON.stringify(['saml_request', profileId, front]))
    .digest('hex')
}
