/** Longest head of a request, in bytes. */
export const LONGEST_HEAD_BYTES = 131_072

/** Path of a request with a method that its parser does not know, from its first bytes; '' = none can be read. */
export function unreadPath(packet: unknown): string {
  const head = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, LONGEST_HEAD_BYTES) : ''
  return /^[!#$%&'*+.^_`|~\w-]+ (\/[^\s?#]*)(?:[?#]\S*)? HTTP\/1\.[01]\r?\n/.exec(head)?.[1] ?? ''
}
