import { explainSettings, formatSettings } from '../../config/explain.ts'
import { loadConfig } from '../../config/load.ts'
import { SETTINGS } from '../../config/settings.ts'
import { fault } from '../../errors/fault.ts'
import { nearest } from '../../errors/suggest.ts'
import type { Command } from './command.ts'

/** `gatehouse settings`: the settings that a start would use. */
export const SETTINGS_COMMAND: Command = {
  name: 'settings',
  summary: 'list settings with value, source and environment name; with words, those whose name contains one of them',
  words: '[WORD...]',
  wordValues: () => SETTINGS.map(({ path }) => path),
  examples: [
    ['settings', 'all settings'],
    ['settings gateway.listen_port gateway.tls', 'the port for traffic and all of TLS'],
  ],
  exits: {
    0: 'listed',
    1: 'the settings are not valid, or a word is in no name',
    2: 'the command line is wrong',
  },
  run({ env, file, cwd, words, print }) {
    const loaded = loadConfig({ env, file, cwd })
    const all = explainSettings(loaded)
    const names = (word: string) => all.filter(({ path, env: name }) => path.includes(word) || name.includes(word))
    const unknown = words.filter((word) => names(word).length === 0)
    if (unknown.length > 0) throw fault('option_invalid', unknown.map(unknownText).join('\n'))
    const wanted = new Set(words.flatMap(names))
    print(formatSettings(words.length === 0 ? all : all.filter((setting) => wanted.has(setting))))
    for (const warning of loaded.warnings) print(`warning: ${warning}`)
    return 0
  },
}

function unknownText(word: string): string {
  const near = nearest(
    word,
    SETTINGS.map(({ path }) => path),
  )
  return `no setting has ${word} in its name${near === undefined ? '' : `; did you mean ${near}?`}`
}
