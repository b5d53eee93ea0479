import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LANGUAGES, type Language } from './languages.ts'
import { readResults } from './results.ts'

/** The tables of the page about foreign clients: for each language its clients, their pinned versions and the flows that pass. */
export function clientTables(): string {
  const results = readResults()
  return LANGUAGES.map((language) => {
    const own = results.filter((one) => one.language === language.name)
    const clients = [...new Set(own.map(({ client }) => client))]
    const rows = clients.map((client) => {
      const flows = own.filter((one) => one.client === client).map(({ flow }) => flow)
      return `| ${client} | ${versionOf(language, client)} | ${flows.join('; ')} |\n`
    })
    return rows.length === 0
      ? ''
      : `## ${language.name}\n\n| client | version | what passes |\n| --- | --- | --- |\n${rows.join('')}`
  })
    .filter((table) => table !== '')
    .join('\n')
}

/** Looks in the files that pin versions: `go.mod`, `requirements.txt`, `pom.xml`, `versions.lock`, `package.json`. What is in none came with the runtime. */
function versionOf({ folder, pins }: Language, client: string): string {
  const name = client.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const between = '(?: v|==|": "|</artifactId>\\s*<version>|"\\nversion = ")'
  const pattern = new RegExp(`(?:^|[\\s>"])${name}${between}(?<version>[\\w.+-]+)`, 'i')
  const found = pins.map((pin) => pattern.exec(readFileSync(join(folder, pin), 'utf8'))?.groups?.version)
  return found.find((version) => version !== undefined) ?? 'of the runtime'
}
