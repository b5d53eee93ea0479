import { createSecureContext, type SecureContext } from 'node:tls'
import { fault, toFault } from '../../errors/fault.ts'
import type { KeyPair } from '../../runtime/key-pair-files.ts'
import type { Feed } from '../../store/ports/ports.ts'

/** Finds a stored certificate that an organisation may use; undefined when there is none with a private key. */
export type FindKeyPair = (id: string, orgId: string) => KeyPair | undefined | Promise<KeyPair | undefined>

/** The certificates that the gateway shows upstreams, ready for handshakes: making one costs a millisecond. */
export class ClientIdentities {
  readonly #find: FindKeyPair
  readonly #contexts = new Map<string, Promise<SecureContext>>()

  readonly #unsubscribe: () => void

  constructor(find: FindKeyPair, feed: Feed) {
    this.#find = find
    // Connections that are opened from now on show what is stored now.
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed || changes.some(({ kind }) => kind === 'certificate')) this.#contexts.clear()
    })
  }

  /**
   * The context to open connections with. `id` may be a fingerprint alone.
   * @throws Fault `upstream_identity_missing` (502): without its certificate nothing is sent
   */
  contextOf(id: string, orgId: string): Promise<SecureContext> {
    const key = `${orgId} ${id}`
    const known = this.#contexts.get(key)
    if (known !== undefined) return known
    const made = this.#make(id, orgId)
    this.#contexts.set(key, made)
    // One that is not there, or could not be read, may be there next time.
    made.catch(() => this.#contexts.delete(key))
    return made
  }

  close(): void {
    this.#unsubscribe()
    this.#contexts.clear()
  }

  async #make(id: string, orgId: string): Promise<SecureContext> {
    try {
      const pair = (await this.#find(id, orgId)) ?? (await this.#find(orgId + id, orgId))
      if (pair !== undefined)
        return createSecureContext({ minVersion: 'TLSv1.2', cert: pair.certificate, key: pair.key })
    } catch (error) {
      throw fault('upstream_identity_missing', `client certificate ${id}: ${toFault(error).code}`, error)
    }
    throw fault('upstream_identity_missing', `client certificate ${id}: not stored with a private key`)
  }
}
