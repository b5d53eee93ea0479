import { constants } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'

/** A certificate with its private key, as PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface KeyPairFilesParts {
  readonly certFile: string
  readonly keyFile: string
  /** Path of the settings that name the files, such as `gateway.tls`. */
  readonly setting: string
  readonly log: Log
}

const FILE_CHECK_MS = 1000

/** A certificate and its key in files, read again when these change. */
export class KeyPairFiles {
  readonly #parts: KeyPairFilesParts
  readonly #changed: (pair: KeyPair) => void
  /** The pair that is in use. */
  current: KeyPair

  /** `changed` is called with each new pair that fits together. @throws Fault `setting_invalid` when the files cannot be read or do not fit */
  constructor(parts: KeyPairFilesParts, changed: (pair: KeyPair) => void) {
    this.#parts = parts
    this.#changed = changed
    this.current = this.#read()
    for (const file of [parts.certFile, parts.keyFile]) {
      watchFile(file, { interval: FILE_CHECK_MS, persistent: false }, this.#readAgain)
    }
  }

  close(): void {
    unwatchFile(this.#parts.certFile, this.#readAgain)
    unwatchFile(this.#parts.keyFile, this.#readAgain)
  }

  #read(): KeyPair {
    const { certFile, keyFile, setting } = this.#parts
    try {
      const pair = { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
      createSecureContext({ cert: pair.certificate, key: pair.key })
      return pair
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw fault(
        'setting_invalid',
        `${setting}.cert_file ${certFile} with ${setting}.key_file ${keyFile}: ${why}`,
        error,
      )
    }
  }

  readonly #readAgain = (): void => {
    const { certFile, log } = this.#parts
    try {
      this.current = this.#read()
    } catch (error) {
      // Certificate and key change one after the other: until they fit together the old pair serves.
      const detail = toFault(error).message
      log.warn({ detail }, 'the changed certificate files do not fit yet; the old ones stay in use')
      return
    }
    log.info({ file: certFile }, 'certificate read again')
    this.#changed(this.current)
  }
}

/** The negotiation of a TLS listener, as its settings say. */
export interface TlsRules {
  readonly min_version: '1.2' | '1.3'
  /** In the names of OpenSSL. */
  readonly cipher_suites: readonly string[]
  readonly curves: readonly string[]
}

/**
 * The options of a listener's secure contexts. Renegotiation is refused (RFC 9325 section 3.5). `tickets` false: no session is ever resumed.
 */
export function tlsOptions(rules: TlsRules, { tickets }: { readonly tickets: boolean }): SecureContextOptions {
  return {
    minVersion: `TLSv${rules.min_version}`,
    ciphers: rules.cipher_suites.join(':'),
    ecdhCurve: rules.curves.join(':'),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | (tickets ? 0 : constants.SSL_OP_NO_TICKET),
    // Without it OpenSSL ends the handshake of a client with a certificate that offers a session.
    sessionIdContext: 'gatehouse',
  }
}
