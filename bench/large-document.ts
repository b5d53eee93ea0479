/** Of a path with its two operations, about. */
const BYTES_OF_PATH = 7270
const SENTENCE =
  'Lists what the caller may see, newest first, with the number of those that are left in the next page. '

/**
 * An OpenAPI document of about so many bytes as JSON, in the shape of those that large services publish: most of it are descriptions and
 * examples, and operations share their schemas.
 */
export function largeDocument(bytes: number): Record<string, unknown> {
  const count = Math.ceil(bytes / BYTES_OF_PATH)
  const each = Array.from({ length: count }, (_, i) => i)
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1', description: SENTENCE },
    servers: [{ url: 'https://api.large.example' }],
    paths: Object.fromEntries(each.map((i) => [`/owners/{owner}/things-${i}/{id}`, pathItem(i)])),
    components: {
      schemas: Object.fromEntries(each.map((i) => [`thing-${i}`, schemaOf(i, count)])),
      parameters: PARAMETERS,
    },
  }
}

const PARAMETERS = {
  owner: {
    name: 'owner',
    in: 'path',
    required: true,
    description: SENTENCE,
    schema: { type: 'string', maxLength: 40 },
  },
  id: { name: 'id', in: 'path', required: true, description: SENTENCE, schema: { type: 'integer' } },
  page: { name: 'page', in: 'query', description: SENTENCE, schema: { type: 'integer', minimum: 1, default: 1 } },
}

function pathItem(i: number): Record<string, unknown> {
  const parameters = ['owner', 'id', 'page'].map((name) => ({ $ref: `#/components/parameters/${name}` }))
  const media = { schema: { $ref: `#/components/schemas/thing-${i}` }, examples: { default: { value: exampleOf(i) } } }
  const answer = (description: string) => ({ description, content: { 'application/json': media } })
  const operation = (name: string, more: object) => ({
    ...{
      operationId: `${name}-${i}`,
      summary: `${name} ${i}`,
      description: SENTENCE.repeat(8),
      tags: [`tag-${i % 50}`],
    },
    ...{ parameters, ...more, responses: { 200: answer(SENTENCE), 404: { description: SENTENCE } } },
  })
  const requestBody = { required: true, content: { 'application/json': media } }
  return { get: operation('read', {}), put: operation('replace', { requestBody }) }
}

function schemaOf(i: number, count: number): Record<string, unknown> {
  const text = (more: object = {}) => ({
    type: 'string',
    description: SENTENCE,
    examples: ['an example of it'],
    ...more,
  })
  return {
    type: 'object',
    description: SENTENCE,
    required: ['id', 'name'],
    properties: {
      ...{
        id: { type: 'integer', description: SENTENCE, examples: [i] },
        name: text({ minLength: 1 }),
        url: text({ format: 'uri' }),
      },
      ...{
        at: text({ format: 'date-time' }),
        kind: text({ enum: ['one', 'two', 'three'] }),
        owner: text(),
        note: text(),
      },
      parent: { $ref: `#/components/schemas/thing-${(i * 7 + 1) % count}` },
    },
  }
}

function exampleOf(i: number): Record<string, unknown> {
  const one = {
    id: i,
    name: `thing ${i}`,
    url: `https://api.large.example/things/${i}`,
    at: '2026-11-27T10:00:00Z',
    note: SENTENCE,
  }
  return { ...one, kind: 'one', parent: { ...one, parent: { ...one, parent: one } } }
}
