import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { fault, toFault } from '../../errors/fault.ts'
import type { Log } from '../../model/logs/log.ts'
import type { TlsChoice } from '../../wire/listen/listen.ts'
import { askedDomains } from './asks-certificate.ts'
import type { Snapshot } from './exchange.ts'

/** A certificate with its private key, as PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface TlsParts {
  /** Chain and key for clients that name no known domain; '' for both = they are refused. */
  readonly certFile: string
  readonly keyFile: string
  readonly snapshot: () => Snapshot
  /** The stored certificate with this id that an organisation may use; undefined when there is none with a private key. */
  readonly findKeyPair: (id: string, orgId: string) => KeyPair | undefined | Promise<KeyPair | undefined>
  readonly log: Log
}

/** A certificate as an API of an organisation names it. */
interface Named {
  readonly id: string
  readonly orgId: string
}

const FILE_CHECK_MS = 1000
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
  #default: SecureContext | undefined
  #domains = new Map<string, TlsChoice>()
  #askElsewhere = false
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
    if (parts.certFile === '') return
    this.#default = this.#readFiles()
    for (const file of [parts.certFile, parts.keyFile]) {
      watchFile(file, { interval: FILE_CHECK_MS, persistent: false }, () => this.#filesChanged())
    }
  }

  /** The choice for a handshake; undefined refuses it. */
  choose(serverName: string): TlsChoice | undefined {
    const known = this.#domains.get(serverName.toLowerCase())
    if (known !== undefined) return known
    return this.#default === undefined ? undefined : { context: this.#default, askCertificate: this.#askElsewhere }
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
    if (this.#parts.certFile === '') return
    unwatchFile(this.#parts.certFile)
    unwatchFile(this.#parts.keyFile)
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
      const context = (await this.#contextOf(domain, named)) ?? this.#default
      if (context !== undefined) domains.set(domain, { context, askCertificate: asked.domains.has(domain) })
    }
    this.#domains = domains
    this.#used = new Set([
      FROM_FILE,
      ...[...wanted.values()].flatMap((named) => Array.from(named.values(), ({ id }) => id)),
    ])
    this.#askElsewhere = asked.elsewhere
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
        if (pair !== undefined) return this.#contextFrom(id, pair.certificate, pair.key)
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

  #contextFrom(name: string, cert: string | Uint8Array, key: string | Uint8Array): SecureContext {
    const context = createSecureContext({ cert: Buffer.from(cert), key: Buffer.from(key) })
    this.#ends.set(name, Date.parse(new X509Certificate(cert).validTo))
    return context
  }

  #readFiles(): SecureContext {
    const { certFile, keyFile } = this.#parts
    try {
      return this.#contextFrom(FROM_FILE, readFileSync(certFile), readFileSync(keyFile))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw fault(
        'setting_invalid',
        `gateway.tls.cert_file ${certFile} with gateway.tls.key_file ${keyFile}: ${why}`,
        error,
      )
    }
  }

  #filesChanged(): void {
    try {
      this.#default = this.#readFiles()
      this.#parts.log.info({ file: this.#parts.certFile }, 'certificate read again')
      void this.update()
    } catch (error) {
      // Certificate and key change one after the other: until they fit together the old pair serves.
      this.#parts.log.warn(
        { detail: toFault(error).message },
        'the changed certificate files do not fit yet; the old ones stay in use',
      )
    }
  }
}
