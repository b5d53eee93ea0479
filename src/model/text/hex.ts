/** Bytes as text: lower-case hex, as hashes are written everywhere. Reads the memory in place: a view costs no copy of the bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
