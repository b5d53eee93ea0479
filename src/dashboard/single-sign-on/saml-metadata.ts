import { X509Certificate } from 'node:crypto'
import { fault, toFault } from '../../errors/fault.ts'

/** The used part of the metadata of a SAML identity provider. */
export interface IdpMetadata {
  readonly entityId: string
  /** Where requests go, by redirect. */
  readonly entryPoint: string
  /** Certificates that answers may be signed with, base64 of their DER. */
  readonly certificates: readonly string[]
  /** Where log-outs go by redirect, and answers to its own; undefined = it has none. */
  readonly logout?: { readonly url: string; readonly answerUrl: string } | undefined
}

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const MOST_BYTES = 1_048_576
const MOST_CERTIFICATES = 10

/**
 * Reads the metadata of an identity provider (SAML 2.0 Metadata section 2.4): one entity, or the first identity provider of several.
 * @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function readIdpMetadata(xml: string): Promise<IdpMetadata> {
  checkXml(xml)
  // Its libraries are loaded where a provider is read, not with the checks.
  const { parseXml2JsFromString } = await import('@node-saml/node-saml/lib/xml.js')
  let root: unknown
  try {
    root = await parseXml2JsFromString(xml)
  } catch (error) {
    throw fault('sso_failed', `the metadata of the identity provider is not XML: ${toFault(error).message}`)
  }
  const entities = [
    ...asList(xmlMember(root, 'EntityDescriptor')),
    ...asList(xmlMember(xmlMember(root, 'EntitiesDescriptor'), 'EntityDescriptor')),
  ]
  const entity = entities.find((one) => asList(xmlMember(one, 'IDPSSODescriptor')).length > 0)
  const [idp] = asList(xmlMember(entity, 'IDPSSODescriptor'))
  const services = asList(xmlMember(idp, 'SingleSignOnService'))
  const entryPoint = xmlAttribute(
    services.find((service) => xmlAttribute(service, 'Binding') === REDIRECT),
    'Location',
  )
  const certificates = asList(xmlMember(idp, 'KeyDescriptor'))
    .filter((key) => xmlAttribute(key, 'use') !== 'encryption')
    .flatMap((key) => asList(xmlMember(key, 'KeyInfo')))
    .flatMap((info) => asList(xmlMember(info, 'X509Data')))
    .flatMap((data) => asList(xmlMember(data, 'X509Certificate')))
    .map((certificate) => xmlText(certificate).replace(/\s/g, ''))
    .filter(isCertificate)
    .slice(0, MOST_CERTIFICATES)
  const entityId = xmlAttribute(entity, 'entityID')
  const leaving = asList(xmlMember(idp, 'SingleLogoutService')).find((one) => xmlAttribute(one, 'Binding') === REDIRECT)
  const url = xmlAttribute(leaving, 'Location')
  const answerUrl = xmlAttribute(leaving, 'ResponseLocation') || url
  if (entityId === '' || !isWeb(entryPoint) || certificates.length === 0)
    throw fault('sso_failed', 'the metadata names no identity provider with HTTP-Redirect and a signing certificate')
  const logout = isWeb(url) && isWeb(answerUrl) ? { url, answerUrl } : undefined
  return { entityId, entryPoint, certificates, logout }
}

const isWeb = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text)

/** Refuses XML that is too large, or that has declarations: entities that expand, files that are read. @throws Fault `sso_failed` */
export function checkXml(xml: string): void {
  if (xml.length > MOST_BYTES) throw fault('sso_failed', 'the XML is too large')
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw fault('sso_failed', 'the XML holds a document type')
}

function isCertificate(base64: string): boolean {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).publicKey !== undefined
  } catch {
    return false
  }
}

/** A member of what the XML reader made; every element is a list of those of its name. */
export function xmlMember(value: unknown, name: string): unknown {
  const one: unknown = Array.isArray(value) ? value[0] : value
  return typeof one === 'object' && one !== null ? (one as Record<string, unknown>)[name] : undefined
}

/** All elements of a name: what the XML reader made of them, as a list. */
export function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** An attribute of an element; '' when it is not there. */
export function xmlAttribute(value: unknown, name: string): string {
  const text = xmlMember(xmlMember(value, '$'), name)
  return typeof text === 'string' ? text : ''
}

/** The text of an element. */
export function xmlText(value: unknown): string {
  if (typeof value === 'string') return value
  const text = xmlMember(value, '_')
  return typeof text === 'string' ? text : ''
}
