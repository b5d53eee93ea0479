import { fault } from '../../errors/fault.ts'
import { COMMON_HELP, COMMON_OPTIONS, type Command } from './command.ts'

const SHELLS = { bash: bashScript, zsh: zshScript } as const

/** `gatehouse completion`: a script that completes commands, options and words in a shell, from the table of commands. */
export function completionCommand(others: readonly Command[]): Command {
  const command: Command = {
    name: 'completion',
    summary: 'print a script that completes command lines in bash or zsh',
    words: 'bash|zsh',
    wordValues: () => Object.keys(SHELLS),
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/gatehouse', 'for bash, from the next shell on'],
      ['completion zsh > ~/.zfunc/_gatehouse', 'for zsh, where ~/.zfunc is in $fpath'],
    ],
    exits: { 0: 'printed', 1: 'there is no script for this shell', 2: 'the command line is wrong' },
    run({ words: [shell = '', ...more], print }) {
      if (!Object.hasOwn(SHELLS, shell) || more.length > 0)
        throw fault('option_invalid', 'usage: bin/gatehouse completion bash|zsh')
      print(SHELLS[shell as keyof typeof SHELLS]([...others, command]))
      return 0
    },
  }
  return command
}

interface Option {
  /** `--output`, and `-o` where there is one. */
  readonly names: readonly string[]
  readonly text: string
  readonly value: 'none' | 'file' | 'any'
}

/** The options of a command, with what its help says of each. */
function optionsOf({ options = {}, help = '' }: Command): Option[] {
  const lines = `${help}\n${COMMON_HELP}`.split('\n')
  const { version: _once, ...common } = COMMON_OPTIONS
  return Object.entries({ ...options, ...common }).map(([name, { type, short }]) => {
    const line = lines.find((each) => new RegExp(`--${name}(?![\\w-])`).test(each)) ?? ''
    const takesFile = new RegExp(`--${name} (?:FILE|DIR|PATH)\\b`).test(line)
    return {
      names: [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
      text: line.trim().split('  ').slice(1).join(' ').trim(),
      value: type === 'boolean' ? 'none' : takesFile ? 'file' : 'any',
    }
  })
}

const takesFiles = ({ words = '' }: Command) => words.includes('FILE')

function bashScript(table: readonly Command[]): string {
  const cases = table.map((command) => {
    const options = optionsOf(command)
    const named = (value: Option['value']) =>
      options.filter((each) => each.value === value).flatMap(({ names }) => names)
    const words = takesFiles(command) ? '-f' : `-W "${(command.wordValues?.() ?? []).join(' ')}"`
    return `    ${command.name})
      options="${options.flatMap(({ names }) => names).join(' ')}"
      files="${named('file').join(' ')}"
      values="${named('any').join(' ')}"
      words=(${words}) ;;`
  })
  return `# Completion of gatehouse for bash. Written by \`bin/gatehouse completion bash\`.
_gatehouse() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" last="" each options files values words
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$last:$each" in
      -c:* | --config:* | *:-*) ;;
      *) command="$each"; break ;;
    esac
    last="$each"
  done
  COMPREPLY=()
  case "$command" in
${cases.join('\n')}
    *)
      options="${table.map(({ name }) => name).join(' ')} --config -c --help -h --version -v"
      files="--config -c"
      values=""
      words=(-W "$options") ;;
  esac
  case " $files " in *" $before "*) COMPREPLY=($(compgen -f -- "$word")); return ;; esac
  case " $values " in *" $before "*) return ;; esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen "\${words[@]}" -- "$word")) ;;
  esac
}
complete -o filenames -F _gatehouse gatehouse`
}

function zshScript(table: readonly Command[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''")
  const described = (text: string) => quoted(text.replace(/[[\]\\:]/g, '\\$&'))
  const cases = table.map((command) => {
    const options = optionsOf(command).flatMap(({ names, text, value }) =>
      names.map(
        (name) => `'*${name}[${described(text)}]${{ none: '', file: ':file:_files', any: ':value: ' }[value]}'`,
      ),
    )
    const values = command.wordValues?.() ?? []
    const words = takesFiles(command) ? `'*:file:_files'` : values.length > 0 ? `'*:word:(${values.join(' ')})'` : ''
    return `    ${command.name}) _arguments -s ${[...options, words].filter(Boolean).join(' \\\n      ')} ;;`
  })
  const commands = table.map(({ name, summary }) => `    '${name}:${described(summary)}'`)
  return `#compdef gatehouse
# Completion of gatehouse for zsh. Written by \`bin/gatehouse completion zsh\`.
_gatehouse() {
  local -a commands
  commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_gatehouse" ]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi`
}
