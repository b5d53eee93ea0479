import { dirname } from 'node:path/posix'
import type { SourceFile } from './tree.ts'

/** Parts of the tree whose folders are held to a size, with the most files that one may have. */
const MOST_FILES: Readonly<Record<string, number>> = { src: 30, console: 30, test: 40 }

/**
 * Folders that hold both: an entry lies above the parts that it starts, and tests of the whole repository above those of its parts.
 */
const HOLDS_BOTH = new Set(['src', 'console', 'console/src', 'test'])

/** Folders with more files than a reader takes in at a glance. What a concept has more of is two concepts. */
export function checkFolderSizes(files: readonly SourceFile[]): string[] {
  return [...filesOfFolders(files)].flatMap(([folder, count]) => {
    const most = MOST_FILES[folder.split('/')[0]!] ?? Number.POSITIVE_INFINITY
    return count > most ? [`${folder} has ${count} files, more than ${most}`] : []
  })
}

/** Files that lie flat beside folders: nobody knows which of the two to search. */
export function checkFlatFiles(files: readonly SourceFile[]): string[] {
  const folders = new Set(filesOfFolders(files).keys())
  const parents = new Set([...folders].flatMap((folder) => ancestorsOf(folder)))
  return files
    .map(({ path }) => path)
    .filter((path) => parents.has(dirname(path)) && !HOLDS_BOTH.has(dirname(path)))
    .filter((path) => path.split('/')[0]! in MOST_FILES)
    .map((path) => `${path} lies flat beside folders`)
}

function filesOfFolders(files: readonly SourceFile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return counts
}

function ancestorsOf(folder: string): string[] {
  const above = dirname(folder)
  return above === '.' ? [] : [above, ...ancestorsOf(above)]
}
