import { execFileSync } from 'node:child_process'
import { createSign, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { IdentityProvider, SamlLib, ServiceProvider, setSchemaValidator } from 'samlify'

setSchemaValidator({ validate: async () => 'not looked at' })

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
const SHA1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'

export interface RsaPair {
  readonly cert: string
  readonly key: string
}

/** A throw-away RSA certificate that signed itself, by the machine's `openssl`. */
export function makeRsaPair(name: string): RsaPair {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-saml-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const out = ['-nodes', '-days', '2', '-keyout', key, '-out', cert, '-subj', `/CN=${name}`]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...out], { stdio: 'ignore' })
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The differences from a right answer. */
export interface Wrong {
  readonly audience?: string
  readonly recipient?: string
  readonly issuer?: string
  readonly inResponseTo?: string
  readonly subjectInResponseTo?: string
  readonly notBefore?: Date
  readonly until?: Date
  readonly issued?: Date
  readonly assertionId?: string
  /** Nothing is signed. */
  readonly unsigned?: boolean
  /** Signed by another party, which adds its own certificate. */
  readonly signedBy?: RsaPair
  /** Signed with RSA and SHA-1. */
  readonly sha1?: boolean
  /** Changes the template before it is signed. */
  readonly template?: (xml: string) => string
}

export interface Subject {
  readonly email: string
  readonly groups?: readonly string[]
  /** The provider's own session. */
  readonly sessionIndex?: string
}

/** A log-out as the identity provider asks for it, and what differs from a right one. */
export interface LogoutAsked {
  readonly email: string
  readonly sessionIndexes?: readonly string[]
  readonly id?: string
  readonly issuer?: string
  readonly destination?: string
  readonly issued?: Date
  readonly until?: Date
  readonly relayState?: string
  readonly unsigned?: boolean
  readonly signedBy?: RsaPair
  readonly sha1?: boolean
  /** Instead of the request. */
  readonly xml?: string
}

/** A SAML identity provider with scripted responses. */
export class SamlIdp {
  readonly entityId = 'https://idp.example.test/saml'
  readonly entryPoint = 'https://idp.example.test/sso'
  readonly #pair: RsaPair

  constructor(pair: RsaPair) {
    this.#pair = pair
  }

  get metadata(): string {
    return this.#idp(this.#pair).getMetadata()
  }

  /** Reads the request in the address that we redirect to: its id. With `signed` it must be, by what our metadata says. */
  async requestOf(location: URL, ownMetadata: string, { signed = false } = {}): Promise<string> {
    const sp = ServiceProvider({ metadata: ownMetadata })
    const octetString = location.search.slice(1).split('&Signature=')[0]!
    const query = Object.fromEntries(location.searchParams)
    const { extract } = await this.#idp(this.#pair, signed).parseLoginRequest(sp, 'redirect', { query, octetString })
    return String((extract.request as { id: string }).id)
  }

  /** The response, XML. */
  async respond(
    request: string,
    ownMetadata: string,
    { email, groups = [], sessionIndex }: Subject,
    wrong: Wrong = {},
  ): Promise<string> {
    const sp = ServiceProvider({ metadata: ownMetadata })
    const acs = String(sp.entityMeta.getAssertionConsumerService('post'))
    const now = Date.now()
    const until = (wrong.until ?? new Date(now + 300_000)).toISOString()
    const id = wrong.assertionId ?? `_${randomBytes(16).toString('hex')}`
    const value = (text: string) => `<saml:AttributeValue>${text}</saml:AttributeValue>`
    const attribute = (name: string, values: readonly string[]) =>
      values.length === 0 ? '' : `<saml:Attribute Name="${name}">${values.map(value).join('')}</saml:Attribute>`
    const tags = {
      ID: `_${randomBytes(16).toString('hex')}`,
      AssertionID: id,
      Destination: acs,
      Audience: wrong.audience ?? sp.entityMeta.getEntityID(),
      SubjectRecipient: wrong.recipient ?? acs,
      Issuer: wrong.issuer ?? this.entityId,
      IssueInstant: (wrong.issued ?? new Date(now)).toISOString(),
      StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
      ConditionsNotBefore: (wrong.notBefore ?? new Date(now - 1000)).toISOString(),
      ConditionsNotOnOrAfter: until,
      SubjectConfirmationDataNotOnOrAfter: until,
      NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
      NameID: email,
      AuthnStatement: '',
    }
    const statement = `<saml:AttributeStatement>${attribute('mail', [email])}${attribute('sn', ['Byron'])}${attribute('groups', groups)}</saml:AttributeStatement>`
    const authn =
      sessionIndex === undefined
        ? ''
        : `<saml:AuthnStatement AuthnInstant="${new Date(now).toISOString()}" SessionIndex="${sessionIndex}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`
    const context = (template: string) => {
      const [front, back = ''] = (wrong.template ?? ((xml: string) => xml))(template)
        .replace('{AttributeStatement}', statement)
        .replace('{AuthnStatement}', authn)
        .split(/(?=<saml:SubjectConfirmation )/)
      const asked = wrong.inResponseTo ?? request
      const filled = `${front!.replaceAll('{InResponseTo}', asked)}${back.replaceAll('{InResponseTo}', wrong.subjectInResponseTo ?? asked)}`
      return { id, context: SamlLib.replaceTagsByValue(filled, tags) }
    }
    if (wrong.unsigned) return context(SamlLib.defaultLoginResponseTemplate.context).context
    const made = await this.#idp(wrong.signedBy ?? this.#pair, false, wrong.sha1 ? SHA1 : SHA256).createLoginResponse(
      sp,
      { extract: {} },
      'post',
      { email },
      context,
    )
    return Buffer.from(made.context, 'base64').toString('utf8')
  }

  /** The query of a request to log out: made and signed as the binding says, without a library. */
  logoutQuery(destination: string, asked: LogoutAsked): string {
    const { email, sessionIndexes = [], issuer = this.entityId } = asked
    const end = asked.until === undefined ? '' : ` NotOnOrAfter="${asked.until.toISOString()}"`
    const head = `ID="${asked.id ?? `_${randomBytes(16).toString('hex')}`}" Version="2.0" IssueInstant="${(asked.issued ?? new Date()).toISOString()}" Destination="${asked.destination ?? destination}"${end}`
    const indexes = sessionIndexes.map((index) => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`).join('')
    const xml =
      asked.xml ??
      `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ${head}><saml:Issuer>${issuer}</saml:Issuer><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${email}</saml:NameID>${indexes}</samlp:LogoutRequest>`
    const parts = [['SAMLRequest', deflateRawSync(xml).toString('base64')]]
    if (asked.relayState !== undefined) parts.push(['RelayState', asked.relayState])
    if (asked.unsigned !== true) parts.push(['SigAlg', asked.sha1 ? SHA1 : SHA256])
    const query = parts.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&')
    if (asked.unsigned === true) return query
    const { key } = asked.signedBy ?? this.#pair
    const signature = createSign(asked.sha1 ? 'sha1' : 'sha256')
      .update(query)
      .sign(key, 'base64')
    return `${query}&Signature=${encodeURIComponent(signature)}`
  }

  /** The request to the provider at a log-out: who, and of which session. */
  async logoutOf(location: URL, ownMetadata: string, { signed = false } = {}) {
    const sp = ServiceProvider({ metadata: ownMetadata })
    const octetString = location.search.slice(1).split('&Signature=')[0]!
    const query = Object.fromEntries(location.searchParams)
    const { extract } = await this.#idp(this.#pair, signed).parseLogoutRequest(sp, 'redirect', { query, octetString })
    return extract as unknown as { request: { id: string }; issuer: string; nameID: string; sessionIndex?: string }
  }

  /** The response to our log-out request, XML. */
  answerIn(location: URL): string {
    return inflateRawSync(Buffer.from(location.searchParams.get('SAMLResponse') ?? '', 'base64')).toString('utf8')
  }

  #idp({ key, cert }: RsaPair, signed = false, algorithm = SHA256) {
    return IdentityProvider({
      entityID: this.entityId,
      privateKey: key,
      signingCert: cert,
      wantAuthnRequestsSigned: signed,
      wantLogoutRequestSigned: signed,
      requestSignatureAlgorithm: algorithm,
      singleLogoutService: [{ Binding: REDIRECT, Location: 'https://idp.example.test/out' }],
      singleSignOnService: [{ Binding: REDIRECT, Location: this.entryPoint }],
    })
  }
}
