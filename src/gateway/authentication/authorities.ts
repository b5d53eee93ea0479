import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { type Fault, fault, prebuilt, toFault } from '../../errors/fault.ts'
import type { Authority, ValidPath } from '../../model/certificates/certificate-path.ts'
import type { RevocationList } from '../../model/certificates/revocation-list.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { Documents, Store } from '../../store/ports/ports.ts'
import type { PeerCertificate } from '../../wire/listen/peer-certificate.ts'

const EARLY = prebuilt('client_certificate_early')

const EXPIRED = prebuilt('client_certificate_expired')

const UNKNOWN = prebuilt('key_unknown')
const REVOKED = prebuilt('client_certificate_revoked')
const LISTS_DUE = prebuilt('revocation_list_due')

const FILE_CHECK_MS = 1000

type FindPaths = (chain: readonly Buffer[], authorities: readonly Authority[]) => ValidPath[]

/** The stored CAs of an organisation, and the certificates that they issued. */
class Authorities {
  readonly #authorities: readonly Authority[]
  readonly #validPaths: FindPaths
  /** Of the connections that asked, until the certificates of the store change. */
  readonly #known = new WeakMap<PeerCertificate, readonly ValidPath[]>()

  constructor(authorities: readonly Authority[], validPaths: FindPaths) {
    this.#authorities = authorities
    this.#validPaths = validPaths
  }

  /** The valid paths from a client's certificate to CAs of the organisation, whatever their dates. */
  pathsOf(peer: PeerCertificate): readonly ValidPath[] {
    const known = this.#known.get(peer)
    if (known !== undefined) return known
    const paths = this.#authorities.length === 0 ? [] : this.#validPaths(peer.chain, this.#authorities)
    this.#known.set(peer, paths)
    return paths
  }
}

/** Finds the CAs of organisations among the stored certificates, and their revocation lists in a file, which is read again when it changes. */
export class AuthorityStore {
  readonly #documents: Documents
  readonly #log: Log
  readonly #listFile: string
  readonly #unsubscribe: () => void
  readonly #orgs = new Map<string, Authorities | Promise<Authorities>>()

  #lists: readonly RevocationList[] = []

  /** `listFile`: PEM with the revocation lists of CAs; '' = there are none. */
  constructor({ documents, feed }: Pick<Store, 'documents' | 'feed'>, log: Log, listFile: string) {
    this.#documents = documents
    this.#log = log
    this.#listFile = listFile
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed || changes.some(({ kind }) => kind === 'certificate')) this.#orgs.clear()
    })
  }

  /** Reads the revocation lists, and again when their file changes. @throws Fault `setting_invalid` */
  async start(): Promise<void> {
    if (this.#listFile === '') return
    await this.#readLists()
    watchFile(this.#listFile, { interval: FILE_CHECK_MS, persistent: false }, this.#listsChanged)
  }

  /** The CAs of an organisation; waits only for the first request after certificates have changed. @throws Fault `store_away` */
  of(orgId: string): Authorities | Promise<Authorities> {
    const known = this.#orgs.get(orgId)
    if (known !== undefined) return known
    const loading = this.#load(orgId)
    this.#orgs.set(orgId, loading)
    const settle = (loaded?: Authorities) => {
      // Certificates that have changed meanwhile are read again.
      if (this.#orgs.get(orgId) !== loading) return
      if (loaded === undefined) this.#orgs.delete(orgId)
      else this.#orgs.set(orgId, loaded)
    }
    loading.then(settle, () => settle())
    return loading
  }

  close(): void {
    if (this.#listFile !== '') unwatchFile(this.#listFile, this.#listsChanged)
    this.#unsubscribe()
    this.#orgs.clear()
  }

  async #load(orgId: string): Promise<Authorities> {
    // Loaded where it is needed: few gateways ask for certificates of CAs.
    const { readAuthority, validPaths } = await import('../../model/certificates/certificate-path.ts')
    const found: Authority[] = []
    for await (const batch of this.#documents.each('certificate', { where: { org_id: orgId } })) {
      for (const { body } of batch) {
        const authority = body.is_ca === true ? readAuthority(new X509Certificate(String(body.certificate))) : ''
        if (typeof authority !== 'string') found.push(authority)
      }
    }
    return new Authorities(found, (chain, authorities) => validPaths(chain, authorities, this.#lists))
  }

  readonly #listsChanged = (): void => {
    const [log, file] = [this.#log, this.#listFile]
    this.#readLists().then(
      () => log.info({ file }, 'revocation lists read again'),
      (error) =>
        log.warn(
          { detail: toFault(error).message },
          'the changed revocation lists cannot be read; the old ones stay in use',
        ),
    )
  }

  async #readLists(): Promise<void> {
    const { readRevocationLists } = await import('../../model/certificates/revocation-list.ts')
    try {
      this.#lists = readRevocationLists(readFileSync(this.#listFile, 'latin1'))
    } catch (error) {
      throw fault('setting_invalid', `gateway.tls.client_crl_file ${this.#listFile}: ${toFault(error).message}`, error)
    }
    // Verdicts by the old lists end.
    this.#orgs.clear()
  }
}

/**
 * Why a client certificate is none of `allowed`, nor signed by a CA among them, valid now; undefined when it is.
 * @throws Fault `store_away`
 */
export function flawOfListed(
  peer: PeerCertificate,
  allowed: ReadonlySet<string>,
  wall: Millis,
  authorities: () => Authorities | Promise<Authorities>,
): Fault | undefined | Promise<Fault | undefined> {
  if (allowed.has(peer.sha256)) return flawOfDates(peer, wall)
  const judge = (found: Authorities) =>
    flawOfPaths(
      found.pathsOf(peer).filter(({ authority }) => allowed.has(authority)),
      wall,
    )
  const found = authorities()
  return found instanceof Promise ? found.then(judge) : judge(found)
}

/** Why none of the paths of a certificate is valid at a time; undefined when one is. */
function flawOfPaths(paths: readonly ValidPath[], wall: Millis): Fault | undefined {
  let flaw: Fault | undefined = UNKNOWN
  for (const path of paths) {
    flaw = flawOfPath(path, wall)
    if (flaw === undefined) return undefined
  }
  return flaw
}

/** Why a path is not valid at a time; undefined when it is. */
export function flawOfPath(path: ValidPath, wall: Millis): Fault | undefined {
  if (path.revoked) return REVOKED
  // Who was revoked since is not known.
  return flawOfDates(path, wall) ?? (path.listsDueAt < wall ? LISTS_DUE : undefined)
}

/** Why a client certificate is not valid at a time; undefined when it is. A connection may outlive the certificate that it began with. */
export function flawOfDates(
  { validFrom, validUntil }: Pick<PeerCertificate, 'validFrom' | 'validUntil'>,
  wall: Millis,
): Fault | undefined {
  // Dates that cannot be read are no dates.
  if (!(validFrom <= wall)) return EARLY
  return wall <= validUntil ? undefined : EXPIRED
}
