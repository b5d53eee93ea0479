import type { Json, JsonObject } from '../../json/json.ts'
import { CONTEXT_NAMES, contextNamesIn, contextNamesInTemplate, isContextName } from '../../patterns/variables.ts'
import { isCredentialName } from '../../secrets/redact-traffic.ts'
import { EXTENSION } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, textOf } from '../definition/members.ts'
import { getAt, pathOf, type TreePath } from '../definition/tree.ts'

type Format = 'classic' | 'oas'

const LISTS = 'version_data.versions.*.extended_paths'
const OPERATIONS = `${EXTENSION}.middleware.operations.*`
const GLOBAL = `${EXTENSION}.middleware.global`

/** Where definitions hold texts with variables: values of header edits and targets of rewrites. */
const TEXTS: Readonly<Record<Format, readonly TreePath[]>> = {
  classic: [
    ...['version_data.versions.*.global_headers.*', 'version_data.versions.*.global_response_headers.*'],
    ...[`${LISTS}.transform_headers.*.add_headers.*`, `${LISTS}.transform_response_headers.*.add_headers.*`],
    ...[`${LISTS}.url_rewrites.*.rewrite_to`, `${LISTS}.url_rewrites.*.triggers.*.rewrite_to`],
  ].map(pathOf),
  oas: [
    ...[`${GLOBAL}.transformRequestHeaders.add.*.value`, `${GLOBAL}.transformResponseHeaders.add.*.value`],
    ...[`${OPERATIONS}.transformRequestHeaders.add.*.value`, `${OPERATIONS}.transformResponseHeaders.add.*.value`],
    ...[`${OPERATIONS}.urlRewrite.rewriteTo`, `${OPERATIONS}.urlRewrite.triggers.*.rewriteTo`],
  ].map(pathOf),
}

/** Where they hold templates of bodies, in base64. */
const TEMPLATES: Readonly<Record<Format, readonly TreePath[]>> = {
  classic: [`${LISTS}.transform.*.template_data`, `${LISTS}.transform_response.*.template_data`].map(pathOf),
  oas: [`${OPERATIONS}.transformRequestBody`, `${OPERATIONS}.transformResponseBody`].map(pathOf),
}

const SWITCH: Readonly<Record<Format, TreePath>> = {
  classic: ['enable_context_vars'],
  oas: pathOf(`${GLOBAL}.contextVariables.enabled`),
}

/** Variables that never have a value: their name is not known, or the switch that gives them values is off. */
export function variableWarnings(format: Format, definition: JsonObject): Flaw[] {
  const isOn = getAt(definition, SWITCH[format]) === true
  const warned = (at: TreePath, names: readonly string[]): Flaw[] => {
    if (names.length === 0) return []
    if (!isOn)
      return [{ at, reason: `asks for ${names[0]} of the request, which is empty without ${SWITCH[format].join('.')}` }]
    const hidden = names.find((name) =>
      isCredentialName(/^(?:headers|request_data|cookies)_(.+)$/.exec(name)?.[1] ?? ''),
    )
    if (hidden !== undefined)
      return [{ at, reason: `asks for ${hidden}, which by its name is a credential: it is empty here` }]
    const unknown = names.filter((name) => !isContextName(name))
    if (unknown.length === 0) return []
    return [
      { at, reason: `asks for ${unknown.join(', ')}, which no request has: it is empty (there are ${CONTEXT_NAMES})` },
    ]
  }
  return [
    ...TEXTS[format].flatMap((path) =>
      valuesAt(definition, path).flatMap(({ at, value }) =>
        typeof value === 'string' && value.includes('_context.') ? warned(at, askedNames(path, value)) : [],
      ),
    ),
    ...TEMPLATES[format].flatMap((path) =>
      valuesAt(definition, path).flatMap(({ at, value, holder }) => {
        const member = format === 'classic' ? 'template_source' : 'body'
        const isOff = format === 'classic' ? flagOf(holder, 'disabled') : !flagOf(value, 'enabled')
        return isOff ? [] : warned([...at, member], contextNamesInTemplate(decoded(textOf(value, member))))
      }),
    ),
  ]
}

/** Without the finds of triggers in targets of rewrites, which need no switch. */
function askedNames(path: TreePath, text: string): string[] {
  const isTarget = /^rewrite_?to$/i.test(path.at(-1)!)
  return contextNamesIn(text).filter((name) => !isTarget || !name.startsWith('trigger-'))
}

function decoded(source: string): string {
  return Buffer.from(source, 'base64').toString('utf8')
}

interface Placed {
  readonly at: TreePath
  readonly value: Json
  readonly holder: Json
}

/** All values at a path, `*` being every member or entry. */
function valuesAt(value: Json | undefined, path: TreePath, at: TreePath = [], holder: Json = null): Placed[] {
  if (value === undefined || value === null) return []
  const [step, ...rest] = path
  if (step === undefined) return [{ at, value, holder }]
  if (typeof value !== 'object') return []
  const names = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : []
  return names.flatMap((name) => valuesAt((value as JsonObject)[name], rest, [...at, name], value))
}
