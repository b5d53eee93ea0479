import { isRecord } from '../../api/calls/call.ts'

/** An operation of an OpenAPI document, as much of it as the catalogue shows. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly isDeprecated: boolean
  readonly parameters: readonly {
    readonly name: string
    readonly place: string
    readonly isRequired: boolean
    readonly description: string
  }[]
  readonly answers: readonly { readonly status: string; readonly description: string }[]
}

/** The content of an OpenAPI document. */
export interface ReadDocument {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly operations: readonly Operation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']

/** Reads an OpenAPI or Swagger document in JSON or YAML. @throws Error saying what is wrong with the text; undefined for what is none */
export async function readDocument(text: string): Promise<ReadDocument | undefined> {
  const parsed = await parse(text)
  if (!isRecord(parsed) || !isRecord(parsed.paths)) return undefined
  const info = recordOf(parsed.info)
  const operations = Object.entries(parsed.paths).flatMap(([path, item]) => operationsAt(path, recordOf(item), parsed))
  return { title: word(info.title), version: word(info.version), description: word(info.description), operations }
}

async function parse(text: string): Promise<unknown> {
  if (/^\s*[{[]/.test(text)) return JSON.parse(text)
  // Only documents in YAML need the reader of YAML.
  return (await import('yaml')).parse(text)
}

function operationsAt(path: string, item: Record<string, unknown>, root: Record<string, unknown>): Operation[] {
  return METHODS.flatMap((method) => {
    const operation = item[method]
    if (!isRecord(operation)) return []
    const [tag] = listOf(operation.tags)
    return {
      id: `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      summary: word(operation.summary),
      description: word(operation.description),
      tag: word(tag),
      isDeprecated: operation.deprecated === true,
      parameters: [...listOf(item.parameters), ...listOf(operation.parameters)].map((one) => parameterOf(one, root)),
      answers: Object.entries(recordOf(operation.responses)).map(([status, answer]) => ({
        status,
        description: word(resolved(answer, root).description),
      })),
    }
  })
}

function parameterOf(sent: unknown, root: Record<string, unknown>): Operation['parameters'][number] {
  const { name, in: place, required, description } = resolved(sent, root)
  return { name: word(name), place: word(place), isRequired: required === true, description: word(description) }
}

/** The target of a `$ref` within the document: one step, as parameters and responses need no more. */
function resolved(value: unknown, root: Record<string, unknown>): Record<string, unknown> {
  const record = recordOf(value)
  if (typeof record.$ref !== 'string' || !record.$ref.startsWith('#/')) return record
  const steps = record.$ref.slice(2).split('/')
  const found = steps.reduce<unknown>(
    (at, step) => recordOf(at)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  )
  return recordOf(found)
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
