import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The cases that pass, as they are committed; `docs/generated/clients.md` shows them. */
const FILE = join(import.meta.dirname, '..', 'results.json')

/** One flow of one client: its name is that of its package. */
export interface ClientCase {
  readonly language: string
  readonly client: string
  readonly flow: string
}

/** The committed cases. */
export function readResults(): ClientCase[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as ClientCase[]
}

/** Replaces the committed cases of these languages by those that passed. */
export function writeResults(languages: readonly string[], passed: readonly ClientCase[]): void {
  const others = readResults().filter(({ language }) => !languages.includes(language))
  writeFileSync(FILE, `${JSON.stringify([...others, ...passed].sort(byName), null, 2)}\n`)
}

/** Names how the cases that ran differ from the committed ones of these languages, one line each. */
export function differences(languages: readonly string[], ran: readonly ClientCase[]): string[] {
  const committed = readResults().filter(({ language }) => languages.includes(language))
  const without = (some: readonly ClientCase[], others: readonly ClientCase[]) => {
    const names = new Set(others.map(nameOf))
    return some.map(nameOf).filter((name) => !names.has(name))
  }
  return [
    ...without(committed, ran).map((name) => `${name} did not run`),
    ...without(ran, committed).map((name) => `${name} is not in test/clients/results.json: run with --write`),
  ]
}

export function nameOf({ language, client, flow }: ClientCase): string {
  return `${language}, ${client}: ${flow}`
}

function byName(one: ClientCase, other: ClientCase): number {
  return nameOf(one) < nameOf(other) ? -1 : 1
}
