import { fault } from '../../errors/fault.ts'
import type { CommandContext } from '../commands/command.ts'

/** The result of a backup or a restore. */
interface ArchiveReport {
  readonly file: string
  readonly counts: Readonly<Record<string, number>>
  readonly kinds: Readonly<Record<string, number>>
  readonly revision: number
  readonly checksum: string
  readonly bytes?: number
  readonly dry_run?: boolean
}

/** For programs. */
export function archiveJson({ file, counts, kinds, revision, checksum, bytes, dry_run }: ArchiveReport): string {
  return JSON.stringify({ file, revision, checksum, bytes, dry_run, counts, kinds })
}

/** For people: what is in it, and what to compare it by. */
export function archiveLines(title: string, { counts, kinds, revision, checksum, bytes }: ArchiveReport): string[] {
  const rows = Object.entries({ ...kinds, ...omit(counts, 'document') })
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return [
    ...rows.map(([name, count]) => `  ${name.padEnd(width)}  ${count.toLocaleString('en-US')}`),
    `${title}: revision ${revision}${bytes === undefined ? '' : `, ${bytes.toLocaleString('en-US')} bytes`}, checksum ${checksum}`,
  ]
}

function omit(counts: Readonly<Record<string, number>>, name: string): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([table]) => table !== name))
}

/** The file that a command names, by an option or alone. @throws Fault `option_invalid` */
export function fileOf({ options, words }: CommandContext, option: 'input' | 'output'): string {
  const named = options[option]
  const [file = '', ...more] = [...(typeof named === 'string' ? [named] : []), ...words]
  if (file === '' || more.length > 0) throw fault('option_invalid', 'name one file')
  return file
}
