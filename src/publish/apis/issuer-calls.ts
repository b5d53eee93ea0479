import { fault } from '../../errors/fault.ts'
import { webhookNetwork } from '../../model/webhooks/hook.ts'
import { type FetchedDocument, fetchDocument } from './fetch-document.ts'

/** Calls to issuers of tokens, and to sites of clients. They reject on failure. */
export interface IssuerCalls {
  /** Reads a key set. */
  readonly fetch: (url: string) => Promise<Uint8Array>
  /** Sends a form, and answers the body of a 200. */
  readonly post: (url: string, form: string) => Promise<Uint8Array>
  /** Reads the key set of a client of an organisation. */
  readonly clientKeys: (url: string, orgId: string) => Promise<Uint8Array>
  /** Reads the metadata of a client. */
  readonly clientDocument: (url: string) => Promise<FetchedDocument>
}

/** Chains of certificates make some key sets large. */
const KEY_SET_BOUNDS = { limitBytes: 262_144, totalMs: 5_000 }
const CLIENT_KEYS_BOUNDS = { limitBytes: 65_536, totalMs: 5_000 }
/** Key sets of clients that are read at a time: anybody may have registered them. */
const MOST_CLIENT_READINGS = 128
/** Of those, for clients of one organisation: its sites that hang hold up nobody else's. */
const MOST_OF_ORGANISATION = 32
const CLIENT_DOCUMENT_BOUNDS = { limitBytes: 16_384, totalMs: 5_000 }
const INTROSPECTION_BOUNDS = { limitBytes: 65_536, totalMs: 5_000 }

/** Calls to issuers within this process's bounds: to public addresses only unless `allowPrivate`. */
export function issuerCalls(allowPrivate: boolean): IssuerCalls {
  const rule = webhookNetwork(allowPrivate)
  const reading: string[] = []
  return {
    async clientKeys(url, orgId) {
      const own = reading.filter((each) => each === orgId).length
      if (reading.length >= MOST_CLIENT_READINGS || own >= MOST_OF_ORGANISATION)
        throw fault('import_refused', 'too many key sets of clients are being read')
      reading.push(orgId)
      try {
        return (await fetchDocument(url, { ...rule, ...CLIENT_KEYS_BOUNDS })).bytes
      } finally {
        reading.splice(reading.indexOf(orgId), 1)
      }
    },
    fetch: async (url) => (await fetchDocument(url, { ...rule, ...KEY_SET_BOUNDS })).bytes,
    post: async (url, form) => (await fetchDocument(url, { ...rule, ...INTROSPECTION_BOUNDS, form })).bytes,
    clientDocument: (url) => fetchDocument(url, { ...rule, ...CLIENT_DOCUMENT_BOUNDS }),
  }
}
