import { fault } from '../../errors/fault.ts'
import { type FetchedDocument, fetchDocument } from './fetch-document.ts'

/** Calls to issuers of tokens, and to sites of clients. They reject on failure. */
export interface IssuerCalls {
  /** Reads a key set. */
  readonly fetch: (url: string) => Promise<Uint8Array>
  /** Sends a form, and answers the body of a 200. */
  readonly post: (url: string, form: string) => Promise<Uint8Array>
  /** Reads the key set of a client. */
  readonly clientKeys: (url: string) => Promise<Uint8Array>
  /** Reads the metadata of a client. */
  readonly clientDocument: (url: string) => Promise<FetchedDocument>
}

/** Chains of certificates make some key sets large. */
const KEY_SET_BOUNDS = { limitBytes: 262_144, totalMs: 5_000 }
const CLIENT_KEYS_BOUNDS = { limitBytes: 65_536, totalMs: 5_000 }
/** Key sets of clients that are read at a time: anybody may have registered them. */
const MOST_CLIENT_READINGS = 128
const CLIENT_DOCUMENT_BOUNDS = { limitBytes: 16_384, totalMs: 5_000 }
const INTROSPECTION_BOUNDS = { limitBytes: 65_536, totalMs: 5_000 }

/** Calls to issuers within this process's bounds: to public addresses only unless `allowPrivate`. */
export function issuerCalls(allowPrivate: boolean): IssuerCalls {
  let reading = 0
  return {
    async clientKeys(url) {
      if (reading >= MOST_CLIENT_READINGS) throw fault('import_refused', 'too many key sets of clients are being read')
      reading++
      try {
        return (await fetchDocument(url, { allowPrivate, ...CLIENT_KEYS_BOUNDS })).bytes
      } finally {
        reading--
      }
    },
    fetch: async (url) => (await fetchDocument(url, { allowPrivate, ...KEY_SET_BOUNDS })).bytes,
    post: async (url, form) => (await fetchDocument(url, { allowPrivate, ...INTROSPECTION_BOUNDS, form })).bytes,
    clientDocument: (url) => fetchDocument(url, { allowPrivate, ...CLIENT_DOCUMENT_BOUNDS }),
  }
}
