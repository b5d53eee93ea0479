import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { toFault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { schemeOfRules } from '../../model/authentication/schemes.ts'
import type { Log } from '../../model/logs/log.ts'
import { type KeyPair, KeyPairFiles, type TlsRules, tlsOptions } from '../../runtime/key-pair-files.ts'
import type { Store } from '../../store/ports/ports.ts'
import type { TlsChoice } from '../../wire/listen/listen.ts'
import type { LiveConfig } from '../apis/live.ts'
import type { Snapshot } from './exchange.ts'

/** The parts of an API that decide whether its clients are asked for a certificate. */
type CertificateAskingApi = Pick<
  Api,
  'orgId' | 'domain' | 'internal' | 'auth' | 'oauth' | 'clientCertificates' | 'cors'
>

/** Where handshakes ask for a client certificate. It is never required there: steps of the APIs decide. */
interface AskedDomains {
  /** Custom domains, lower case. */
  readonly domains: ReadonlySet<string>
  /** True at names that are no custom domain. */
  readonly elsewhere: boolean
  /** True for clients that name no server (SNI): their request may be for any API. */
  readonly nameless: boolean
}

export interface TlsParts {
  /** Chain and key for clients that name no known domain; '' for both = they are refused. */
  readonly certFile: string
  readonly keyFile: string
  readonly rules: TlsRules
  readonly snapshot: () => Snapshot
  /** The stored certificate with this id that an organisation may use; undefined when there is none with a private key. */
  readonly findKeyPair: (id: string, orgId: string) => KeyPair | undefined | Promise<KeyPair | undefined>
  readonly log: Log
}

/** Contexts that differ in whether sessions can be resumed: not where a certificate is asked for. */
interface ByAsking {
  readonly plain: SecureContext
  readonly asking: SecureContext
}

/** A certificate as an API of an organisation names it. */
interface Named {
  readonly id: string
  readonly orgId: string
}

/** Of `ends`: more would be a label for each domain. */
const MOST_REPORTED = 100
/** Name of the certificate from the file. */
const FROM_FILE = 'file'

/**
 * Chooses the certificate for each handshake: the one of the domain's APIs, else the default from files.
 * Files are read again when they change, stored ones when an API or certificate changes; no restart, no broken connection.
 */
export class TlsCertificates {
  readonly #parts: TlsParts
  readonly #files: KeyPairFiles | undefined
  /** Contexts without a certificate, in which handshakes with a server name begin. */
  readonly #bare: ByAsking
  /** Contexts with the certificate from the files. */
  #default: ByAsking | undefined
  #domains = new Map<string, TlsChoice>()
  #asked: AskedDomains = { domains: new Set(), elsewhere: false, nameless: false }
  /** Contexts of stored certificates by their ids, until one of these changes: making one costs a millisecond. */
  readonly #contexts = new Map<string, Promise<SecureContext | undefined>>()
  /** When certificates end that were read, Unix milliseconds. */
  readonly #ends = new Map<string, number>()
  /** Names of those in use. */
  #used: ReadonlySet<string> = new Set([FROM_FILE])
  #updating: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  /** @throws Fault `setting_invalid` when the files cannot be read or do not fit together */
  constructor(parts: TlsParts) {
    this.#parts = parts
    this.#bare = this.#contextsOf(undefined)
    if (parts.certFile === '') return
    this.#files = new KeyPairFiles({ ...parts, setting: 'gateway.tls' }, (pair) => {
      this.#useFiles(pair)
      void this.update()
    })
    this.#useFiles(this.#files.current)
  }

  /** The choice for a handshake; undefined refuses it. */
  choose(serverName: string): TlsChoice | undefined {
    const known = this.#domains.get(serverName.toLowerCase())
    if (known !== undefined || this.#default === undefined) return known
    if (serverName !== '') return choiceOf(this.#bare, this.#default.plain, this.#asked.elsewhere)
    return choiceOf(this.#default, this.#default.plain, this.#asked.nameless)
  }

  /** Takes over domains and certificates from the snapshot. Resolves when done; a certificate that cannot be used is logged and skipped. */
  update(): Promise<void> {
    // Many changes while one update runs become one more.
    this.#next ??= this.#updating.then(() => {
      this.#next = undefined
      this.#updating = this.#update()
      return this.#updating
    })
    return this.#next
  }

  /** As `update`, after a stored certificate was changed. */
  updateCertificates(): Promise<void> {
    this.#contexts.clear()
    for (const name of this.#ends.keys()) if (name !== FROM_FILE) this.#ends.delete(name)
    return this.update()
  }

  /** When the certificates in use end, Unix milliseconds: those that end first. Stored ones are named by their ids. */
  ends(): { readonly certificate: string; readonly endsAt: number }[] {
    return Array.from(this.#ends, ([certificate, endsAt]) => ({ certificate, endsAt }))
      .filter(({ certificate }) => this.#used.has(certificate))
      .sort((a, b) => a.endsAt - b.endsAt)
      .slice(0, MOST_REPORTED)
  }

  close(): void {
    this.#files?.close()
  }

  async #update(): Promise<void> {
    const wanted = new Map<string, Map<string, Named>>()
    const apis = Array.from(this.#parts.snapshot().apis.values(), ({ api }) => api)
    const asked = askedDomains(apis)
    for (const { domain, internal, orgId, certificates } of apis) {
      if (domain === '' || internal) continue
      const named = wanted.get(domain) ?? new Map<string, Named>()
      for (const id of certificates) named.set(`${orgId} ${id}`, { id, orgId })
      wanted.set(domain, named)
    }
    const domains = new Map<string, TlsChoice>()
    for (const [domain, named] of wanted) {
      const context = (await this.#contextOf(domain, named)) ?? this.#default?.plain
      if (context !== undefined) domains.set(domain, choiceOf(this.#bare, context, asked.domains.has(domain)))
    }
    this.#domains = domains
    this.#used = new Set([
      FROM_FILE,
      ...[...wanted.values()].flatMap((named) => Array.from(named.values(), ({ id }) => id)),
    ])
    this.#asked = asked
  }

  #contextOf(domain: string, named: ReadonlyMap<string, Named>): Promise<SecureContext | undefined> {
    const key = [...named.keys()].join('\n')
    const known = this.#contexts.get(key)
    if (known !== undefined) return known
    const made = this.#makeContext(domain, named)
    this.#contexts.set(key, made)
    // One that is not there, or could not be read, may be there next time.
    void made.then((context) => context ?? this.#contexts.delete(key))
    return made
  }

  async #makeContext(domain: string, named: ReadonlyMap<string, Named>): Promise<SecureContext | undefined> {
    for (const { id, orgId } of named.values()) {
      try {
        const pair = await this.#parts.findKeyPair(id, orgId)
        if (pair !== undefined) {
          const { plain } = this.#contextsOf(pair)
          this.#noteEnd(id, pair)
          return plain
        }
        this.#parts.log.warn(
          { domain, certificate: id },
          'no such certificate with a private key; the default one is used',
        )
      } catch (error) {
        this.#parts.log.error({ domain, certificate: id, fault: toFault(error).code }, 'unusable certificate')
      }
    }
    return undefined
  }

  #useFiles(pair: KeyPair): void {
    this.#default = this.#contextsOf(pair)
    this.#noteEnd(FROM_FILE, pair)
  }

  #noteEnd(name: string, { certificate }: KeyPair): void {
    this.#ends.set(name, Date.parse(new X509Certificate(certificate).validTo))
  }

  #contextsOf(pair: KeyPair | undefined): ByAsking {
    const own = pair && { cert: pair.certificate, key: pair.key }
    const make = (tickets: boolean) => createSecureContext({ ...tlsOptions(this.#parts.rules, { tickets }), ...own })
    return { plain: make(true), asking: make(false) }
  }
}

function choiceOf({ plain, asking }: ByAsking, context: SecureContext, askCertificate: boolean): TlsChoice {
  return { begin: askCertificate ? asking : plain, context, askCertificate }
}

/** Keeps the chosen certificates in step with APIs and stored certificates. Answers the function that ends it. */
export async function followCertificates(tls: TlsCertificates, live: LiveConfig, store: Store): Promise<() => void> {
  await tls.update()
  live.onApis(() => void tls.update())
  return store.feed.subscribe(({ changes, missed }) => {
    if (missed || changes.some(({ kind }) => kind === 'certificate')) void tls.updateCertificates()
  })
}

/**
 * Decides where to ask from all that judges a certificate: allow lists, certificates as keys, OAuth with bound tokens, keys' APIs of an
 * organisation that issues such tokens, and tokens of other issuers, which may be bound by them. The latter two not at APIs with CORS:
 * these are called by browsers, which may ask people for a certificate, and whose tokens are not bound to one. An API without a custom
 * domain, and an internal one, asks at all domains of its organisation too: it answers there.
 */
function askedDomains(apis: Iterable<CertificateAskingApi>): AskedDomains {
  const all = [...apis]
  const issuing = new Set(all.filter(bindsTokens).map(({ orgId }) => orgId))
  const asking = all.filter((api) => asks(api, issuing))
  const inner = orgsOf(asking.filter(({ internal }) => internal))
  const everywhere = orgsOf(asking.filter(({ internal, domain }) => internal || domain === ''))
  const outer = all.filter(({ internal }) => !internal)
  const named = outer.filter((api) => asks(api, issuing) || (api.domain === '' ? inner : everywhere).has(api.orgId))
  return {
    domains: new Set(named.map(({ domain }) => domain).filter((domain) => domain !== '')),
    elsewhere: named.some(({ domain }) => domain === ''),
    nameless: named.length > 0,
  }
}

function orgsOf(apis: readonly CertificateAskingApi[]): ReadonlySet<string> {
  return new Set(apis.map(({ orgId }) => orgId))
}

function bindsTokens({ oauth }: CertificateAskingApi): boolean {
  return (oauth?.mutualTls ?? 'off') !== 'off'
}

function asks(api: CertificateAskingApi, issuing: ReadonlySet<string>): boolean {
  const { auth, clientCertificates, orgId } = api
  if (clientCertificates !== undefined || bindsTokens(api)) return true
  const schemes = auth === undefined ? [] : (auth.alternatives?.flat() ?? [auth])
  if (schemes.some(({ certificate }) => certificate === true)) return true
  if (api.cors !== undefined) return false
  return schemes.some((rules) => {
    const { method, accessTokens } = schemeOfRules(rules)
    return accessTokens === 'foreign' || ((method === 'token' || accessTokens === 'own') && issuing.has(orgId))
  })
}
