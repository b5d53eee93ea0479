/** The known name nearest to a mistyped one, undefined when none is near. Letter case is ignored. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    // Texts are at least as far apart as their lengths are: most candidates cost nothing.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** Inserted, removed and changed characters between two texts (Levenshtein). Names over 200 characters are cut. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, 200)
  const b = right.slice(0, 200)
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
