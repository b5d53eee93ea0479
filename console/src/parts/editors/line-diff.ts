import { diffArrays } from 'diff'

/** A line of two texts side by side. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
  /** Its number in the new text, in the old one where it is gone; a gap's: how many lines are left out. */
  readonly line: number
}

/** Beyond so many lines that are added or gone, all count as changed: the search takes their square. */
const MOST_CHANGES = 2_000
const AROUND = 3

/** The difference from `before` to `after`, line by line, with three lines around each change and gaps between. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const runs = diffArrays(old, now, { maxEditLength: MOST_CHANGES }) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ]
  let [oldLine, newLine] = [0, 0]
  const lines = runs.flatMap(({ value, removed, added }) =>
    value.map((text): DiffLine => {
      if (!added) oldLine++
      if (!removed) newLine++
      if (removed) return { kind: 'removed', text, line: oldLine }
      return { kind: added ? 'added' : 'same', text, line: newLine }
    }),
  )
  return folded(lines)
}

function linesOf(text: string): string[] {
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
