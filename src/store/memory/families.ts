/** Which hashes belong to a family. '' is none. */
export class Families {
  private readonly hashes = new Map<string, Set<string>>()

  /** Files a hash under another family than before; '' and undefined = under none. */
  move(hash: string, from: string | undefined, to: string | undefined): void {
    if (from === to) return
    if (from) this.take(from, hash)
    if (to) this.give(to, hash)
  }

  /** All hashes of a family. */
  of(family: string): string[] {
    return [...(this.hashes.get(family) ?? [])]
  }

  private give(family: string, hash: string): void {
    const held = this.hashes.get(family)
    if (held === undefined) this.hashes.set(family, new Set([hash]))
    else held.add(hash)
  }

  private take(family: string, hash: string): void {
    const held = this.hashes.get(family)
    held?.delete(hash)
    if (held?.size === 0) this.hashes.delete(family)
  }
}
