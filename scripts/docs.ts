import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETTINGS, type Setting } from '../src/config/settings.ts'
import { CATALOG, catalogEntry, type FaultCode } from '../src/errors/catalog.ts'

const WRITTEN_BY = '<!-- Written by `npm run docs`. Do not edit. -->'

/** Pages that are written from the code: path from the root of the project, and text. */
export function generatedPages(): Map<string, string> {
  return new Map([
    ['docs/generated/config.md', configPage()],
    ['docs/generated/errors.md', errorsPage()],
  ])
}

function configPage(): string {
  const roots = [...new Set(SETTINGS.map(({ segments }) => (segments.length > 1 ? segments[0]! : '')))]
  const sections = roots.map((root) => {
    const settings = SETTINGS.filter(({ segments }) => (segments.length > 1 ? segments[0] : '') === root)
    return `## ${root === '' ? 'Others' : `\`${root}\``}\n\n${table(['setting', 'environment', 'default', 'allowed', 'what it does'], settings.map(settingRow))}`
  })
  return page('Settings', [
    'How settings are given, and which source wins: [configuration](../configuration.md).',
    ...sections,
  ])
}

function settingRow(setting: Setting): string[] {
  const environment = setting.secret ? `\`${setting.env}\` or \`${setting.env}_FILE\`` : `\`${setting.env}\``
  const value = `\`${JSON.stringify(setting.default)}\``
  return [`\`${setting.path}\``, environment, value, setting.allowed, setting.description]
}

function errorsPage(): string {
  const rows = (Object.keys(CATALOG) as FaultCode[]).map((code) => {
    const { status, legacy, log, text } = catalogEntry(code)
    return [
      `\`${code}\``,
      String(status),
      legacy === undefined ? '' : String(legacy),
      text,
      log === 'silent' ? '' : log,
    ]
  })
  return page('Errors', [
    'Every refusal, from `src/errors/catalog.ts`. "Legacy" is the status under `compat.legacy_statuses` where it differs. ' +
      '"Log" is the level of the log line that a refusal writes, if any.',
    table(['code', 'status', 'legacy', 'text', 'log'], rows),
  ])
}

function page(title: string, parts: readonly string[]): string {
  return `${[`# ${title}`, WRITTEN_BY, ...parts].join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function writeAll(): void {
  const root = join(import.meta.dirname, '..')
  for (const [path, text] of generatedPages()) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(`wrote ${path}`)
  }
}

if (import.meta.main) writeAll()
