import type { SourceFile } from './tree.ts'

/** Import cycles, type-only imports included; each is reported once, as its path. A thread is started, not imported. */
export function checkCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, above: readonly string[]): void => {
    const start = above.indexOf(path)
    if (start !== -1) found.push([...above.slice(start), path].join(' -> '))
    if (start !== -1 || done.has(path)) return
    for (const { target, form } of byPath.get(path)?.imports ?? []) {
      if (target !== undefined && form !== 'thread') visit(target, [...above, path])
    }
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  return found
}
