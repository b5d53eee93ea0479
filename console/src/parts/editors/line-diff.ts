/** A line of two texts side by side. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
  /** Its number in the new text, in the old one where it is gone; a gap's: how many lines are left out. */
  readonly line: number
}

/** Beyond so many steps of the search everything between the first and the last difference counts as changed. */
const MOST_STEPS = 4_000_000
const AROUND = 3

/** What turns `before` into `after`, line by line, with three lines around each change and gaps between. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const middle = changes(old.slice(start, old.length - end), now.slice(start, now.length - end), start)
  const head = now.slice(0, start).map((text, index) => same(text, index))
  const tail = now.slice(now.length - end).map((text, index) => same(text, now.length - end + index))
  return folded([...head, ...middle, ...tail])
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}

/** A value as text with sorted names, so that two that mean the same look the same. */
export function sortedText(value: unknown): string {
  return JSON.stringify(sorted(value), null, 2)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]))
}

const same = (text: string, index: number): DiffLine => ({ kind: 'same', text, line: index + 1 })

/** The longest common subsequence by its table; a table that would be too large is not made. */
function changes(old: readonly string[], now: readonly string[], from: number): DiffLine[] {
  const removed = (index: number): DiffLine => ({ kind: 'removed', text: old[index]!, line: from + index + 1 })
  const added = (index: number): DiffLine => ({ kind: 'added', text: now[index]!, line: from + index + 1 })
  if (old.length * now.length > MOST_STEPS) return [...old.keys()].map(removed).concat([...now.keys()].map(added))
  const width = now.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(same(now[j]!, from + j))
      i++
      j++
    } else if (j >= now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      lines.push(removed(i++))
    else lines.push(added(j++))
  }
  return lines
}

function folded(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Uint8Array(lines.length)
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') near.fill(1, Math.max(0, index - AROUND), index + AROUND + 1)
  })
  const shown: DiffLine[] = []
  lines.forEach((line, index) => {
    const last = shown.at(-1)
    if (near[index] === 1) shown.push(line)
    else if (last?.kind === 'gap') shown[shown.length - 1] = { ...last, line: last.line + 1 }
    else shown.push({ kind: 'gap', text: '', line: 1 })
  })
  return shown
}
