import { helpOf } from '../src/cli/commands/commands.ts'
import { COMMANDS } from '../src/cli/commands/table.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { EXTENSION } from '../src/model/apis/definition/members.ts'
import { CLASSIC_SCHEMA } from '../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA, OPENAPI_SCHEMA } from '../src/model/apis/schema/schema-oas.ts'
import { membersIn } from '../src/model/apis/texts/member-texts.ts'
import { isObject, type Json, type JsonObject } from '../src/model/json/json.ts'
import { CLIENT_SCHEMA } from '../src/model/oauth-clients/oauth-client.ts'
import { POLICY_SCHEMA } from '../src/model/policies/policy.ts'
import { SESSION_SCHEMA } from '../src/model/sessions/session.ts'

/** A page of the reference, without what all generated pages have. */
export interface ReferencePage {
  readonly title: string
  readonly parts: readonly string[]
}

interface Described {
  readonly title: string
  readonly file: string
  readonly intro: string
  readonly schema: JsonObject
  /** Members that are a section of their own. */
  readonly sections?: readonly string[]
  /** Names of the members in front of the first column. */
  readonly prefix?: string
}

const OF_KEYS = ['access_rights']

const OBJECTS: readonly Described[] = [
  {
    title: 'API definition (OpenAPI)',
    file: 'api-definition',
    intro: `The members of \`${EXTENSION}\`, the extension of an OpenAPI 3.0, 3.1 or 3.2 document. Required: \`info.name\`, \`info.state.active\`, \`upstream\`, \`server.listenPath.value\`. Durations are texts such as \`500ms\`, \`5s\`, \`1m\`, \`2h\`. Every member may be \`null\`, which means absent.`,
    schema: EXTENSION_SCHEMA,
    sections: ['info', 'upstream', 'server', 'middleware', 'errorOverrides', 'classic'],
  },
  {
    title: 'API definition (classic)',
    file: 'classic-definition',
    intro:
      'The classic format of API definitions, as the incumbent (Tyk) has it. Required: `name`, `proxy.listen_path`. Every member may be `null`, which means absent.',
    schema: CLASSIC_SCHEMA,
    sections: [
      'auth_configs',
      'oauth_meta',
      'definition',
      'version_data',
      'proxy',
      'uptime_tests',
      'CORS',
      'cache_options',
    ],
  },
  {
    title: 'Policy',
    file: 'policy',
    intro:
      'A policy gives access rights and limits to keys and tokens. Members that are not listed are stored and returned as they are.',
    schema: POLICY_SCHEMA,
    sections: OF_KEYS,
  },
  {
    title: 'Key',
    file: 'key',
    intro:
      'The session of a key or an access token: what it may call, how often, and until when. A key needs `access_rights` or `apply_policies`. Members that are not listed are stored and returned as they are.',
    schema: SESSION_SCHEMA,
    sections: OF_KEYS,
  },
  {
    title: 'OAuth client',
    file: 'client',
    intro:
      'An OAuth client, registered at an API or at all OAuth APIs of a policy. Members that are not listed are stored and returned as they are.',
    schema: CLIENT_SCHEMA,
  },
]

/** The pages of the reference about stored objects, by the names of their files. */
export function objectPages(): Map<string, ReferencePage> {
  return new Map(OBJECTS.map((each) => [each.file, pageOf(each)]))
}

/** JSON Schemas for editors, by the names of their files. */
export function schemaFiles(): Map<string, string> {
  const [definition, ...others] = OBJECTS
  const extension = forEditors(definition!.schema)
  const openapi = forEditors(OPENAPI_SCHEMA)
  const whole = {
    ...openapi,
    required: [...(openapi.required as Json[]), EXTENSION],
    properties: { ...(openapi.properties as JsonObject), [EXTENSION]: extension },
  }
  const schemas: [string, string, JsonObject][] = [
    [definition!.file, 'OpenAPI document with the extension of the gateway', whole],
    ...others.map(({ file, title, schema }): [string, string, JsonObject] => [file, title, forEditors(schema)]),
    ['settings', 'Settings (gatehouse.json)', settingsSchema()],
  ]
  return new Map(schemas.map(([file, title, schema]) => [file, textOf(title, schema)]))
}

/** The parts of the page about the commands: a section each, from the table that `--help` and completion read. */
export function commandSections(): string[] {
  const sections = COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``)
  return [
    'In a clone: `bin/gatehouse`, or after the first start `npx gatehouse`. Without a command it runs `all`. Settings: [all](../generated/config.md).',
    'Completion of commands, options and settings: `bin/gatehouse completion bash` or `zsh` prints the script.',
    `## Exit statuses\n\n${tableOf(
      ['command', '0', '1', '2'],
      COMMANDS.map(({ name, exits }) => [`\`${name}\``, ...[0, 1, 2].map((status) => exits[status] ?? '')]),
    )}`,
    'A command line that is wrong ends with 1, but for commands whose row has 2 for it; one that names no command ends with 2. What is refused is named line by line: on standard error where nothing was done, in the report of `import` and `validate`.',
    ...sections,
  ]
}

/** The parts of a page about the calls of an OpenAPI document, by its groups; `withBodies`: with an example of each body. */
export function callSections(document: JsonObject, withBodies: boolean): string[] {
  const calls = Object.entries(document.paths as JsonObject).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).map(([method, each]) => ({
      name: `${method.toUpperCase()} ${path}`,
      ...(each as unknown as CallObject),
    })),
  )
  return (document.tags as unknown as { name: string; description: string }[]).flatMap(({ name, description }) => {
    const own = calls.filter(({ tags }) => tags.includes(name))
    const head = `## ${name}\n\n${description}`
    if (!withBodies)
      return [
        head,
        tableOf(
          ['call', 'what it does', 'more'],
          own.map((each) => [`\`${each.name}\``, each.summary, each.description]),
        ),
      ]
    return [head, ...own.flatMap(sectionOf)]
  })
}

interface CallObject {
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly JsonObject[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: Json }>> }
}

function sectionOf({
  name,
  summary,
  description,
  parameters,
  requestBody,
}: CallObject & { readonly name: string }): string[] {
  const query = parameters.filter((each) => each.in === 'query')
  const example = Object.values(requestBody?.content ?? {}).find((each) => each.example !== undefined)?.example
  return [
    `### ${name}`,
    `${summary}. ${description}`,
    ...(query.length === 0
      ? []
      : [
          tableOf(
            ['query', 'meaning'],
            query.map((each) => [`\`${String(each.name)}\``, String(each.description ?? '')]),
          ),
        ]),
    ...(example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``]),
  ]
}

function pageOf({ title, file, intro, schema, sections = [] }: Described): ReferencePage {
  const all = membersIn(schema)
  const isIn = (path: string, section: string) => path === section || /^[.[]/.test(path.slice(section.length))
  const groupOf = (path: string) => sections.find((each) => path.startsWith(each) && isIn(path, each))
  const groups = ['', ...sections].map((section) => ({
    section,
    rows: all.filter(([path]) => (groupOf(path) ?? '') === section),
  }))
  const tables = groups
    .filter(({ rows }) => rows.length > 0)
    .map(({ section, rows }) => {
      const table = tableOf(['member', 'type', 'meaning', 'example'], rows.map(rowOf))
      return section === '' ? (sections.length > 0 ? `## Members\n\n${table}` : table) : `## \`${section}\`\n\n${table}`
    })
  const editors = `For editors: [JSON Schema](${file}.schema.json); name it as \`$schema\` in a file, which readers of files ignore. \`*\` is any name, \`[]\` for each entry of a list.`
  return { title, parts: [intro, editors, ...tables] }
}

function rowOf([path, member]: [string, JsonObject]): string[] {
  const example = member.example === undefined ? '' : `\`${JSON.stringify(member.example)}\``
  return [`\`${path}\``, typeOf(member), String(member.description ?? ''), example]
}

function typeOf({ type, anyOf, enum: values, items, minimum, maximum }: JsonObject): string {
  if (Array.isArray(anyOf)) return typeOf(anyOf.find((each) => isObject(each) && each.type !== 'null') as JsonObject)
  const [named = 'any'] = [type].flat().filter((each) => each !== 'null' && each !== undefined)
  const words = Array.isArray(values) ? values.filter((each) => each !== null && each !== '') : []
  if (words.length > 0) return words.map((each) => `\`${String(each)}\``).join(', ')
  if (named === 'array') return `list of ${isObject(items ?? null) ? typeOf(items as JsonObject) : 'any'}`
  const bounds = [
    ...(typeof minimum === 'number' && minimum !== 0 ? [`from ${minimum}`] : []),
    ...(typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? [`up to ${maximum}`] : []),
  ]
  return [String(named), ...bounds].join(' ')
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Keywords of our own checks, which no editor knows. */
const OWN_KEYWORDS: ReadonlySet<string> = new Set(['is', 'names', 'title', 'format', 'maxItems', 'maxProperties'])

function forEditors(schema: JsonObject): JsonObject {
  const isNamed = (name: string) => name === 'properties'
  const made = Object.entries(schema).flatMap(([name, value]): [string, Json][] => {
    if (OWN_KEYWORDS.has(name)) return []
    if (name === 'example') return [['examples', [value]]]
    if (isNamed(name) && isObject(value))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, editorValue(each)]))]]
    return [[name, editorValue(value)]]
  })
  return Object.fromEntries(made)
}

const editorValue = (value: Json): Json =>
  Array.isArray(value)
    ? value.map((each) => (isObject(each) ? forEditors(each) : each))
    : isObject(value)
      ? forEditors(value)
      : value

function settingsSchema(): JsonObject {
  const root: JsonObject = { type: 'object', additionalProperties: false, properties: {} }
  for (const { segments, default: value, allowed, auto, description } of SETTINGS) {
    let group = root
    for (const name of segments.slice(0, -1)) {
      const members = group.properties as JsonObject
      members[name] ??= { type: 'object', additionalProperties: false, properties: {} }
      group = members[name] as JsonObject
    }
    const type = Array.isArray(value) ? 'array' : value === null ? undefined : typeof value
    ;(group.properties as JsonObject)[segments.at(-1)!] = {
      ...(auto && { type: ['number', 'string'] }),
      ...(type !== undefined && !auto && { type: type === 'number' && Number.isInteger(value) ? 'number' : type }),
      description: `${description} Allowed: ${allowed}.`,
      default: value as Json,
    }
  }
  return root
}

function textOf(title: string, schema: JsonObject): string {
  const properties = { $schema: { type: 'string' }, ...(schema.properties as JsonObject) }
  const whole = { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema, properties }
  return `${JSON.stringify(whole, null, 1)}\n`
}
