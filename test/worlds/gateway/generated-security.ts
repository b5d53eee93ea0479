import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { VERSIONS } from './generated-schemas.ts'

type Requirements = readonly (readonly string[])[]

/** A document that says who may call: of all operations, and of single ones; undefined where it says nothing. */
export interface GeneratedSecurity {
  readonly version: string
  readonly global: Requirements | undefined
  readonly operations: readonly (Requirements | undefined)[]
  /** True = it is imported with authentication. */
  readonly isEnabled: boolean
}

const KEY = (name: string): JsonObject => ({ type: 'apiKey', in: 'header', name })
const SCHEMES: Readonly<Record<string, JsonObject>> = {
  first: KEY('X-First'),
  second: { type: 'http', scheme: 'basic' },
  third: KEY('X-Third'),
}
const requirements: fc.Arbitrary<Requirements> = fc.array(fc.subarray(Object.keys(SCHEMES), { maxLength: 2 }), {
  maxLength: 2,
})
/** Requirements that an import can turn on: schemes of different kinds. */
const usual: fc.Arbitrary<Requirements> = fc.constantFrom([['first']], [['first', 'second']], [['second'], ['first']])

/** Documents whose operations are open, or ask for one scheme, for several, or for one of several. */
export const generatedSecurity: fc.Arbitrary<GeneratedSecurity> = fc.record({
  version: fc.constantFrom(...VERSIONS),
  global: fc.oneof({ weight: 3, arbitrary: usual }, fc.option(requirements, { nil: undefined })),
  operations: fc.array(fc.option(requirements, { nil: undefined }), { minLength: 3, maxLength: 6 }),
  isEnabled: fc.boolean(),
})

/** Imports a document and calls each operation without a credential: it is as open as the document says, or a warning names it. */
export async function checkSecurity(
  gate: TestGateway,
  { version, global, operations, isEnabled }: GeneratedSecurity,
  verdicts: { open: number; closed: number; warned: number; refused: number },
): Promise<void> {
  const written = (all: Requirements): Json => all.map((group) => Object.fromEntries(group.map((name) => [name, []])))
  const paths = operations.map((own, index) => {
    const operation = { operationId: `o${index}`, responses: {}, ...(own && { security: written(own) }) }
    return [`/${index}`, { get: operation }] as const
  })
  const query = `listenPath=/s/&apiID=s&upstreamURL=http://127.0.0.1:9/&authentication=${isEnabled}`
  const saved = await gate.svc('POST', `/svc/apis/oas/import?${query}`, {
    ...{ openapi: version, info: { title: 's', version: '1' }, paths: Object.fromEntries(paths) as unknown as Json },
    ...(global && { security: written(global) }),
    components: { securitySchemes: SCHEMES },
  })
  if (saved.status !== 200) {
    // A document that names no scheme first, or that cannot be served as it says, is refused by that name.
    assert.match(saved.text, /security/, JSON.stringify({ global, operations, text: saved.text }))
    assert.equal(saved.status, 400)
    verdicts.refused++
    return
  }
  const { warnings = [] } = saved.json as { warnings?: { path: string }[] }
  try {
    for (const [index, own] of operations.entries()) {
      const asked = own ?? global ?? []
      const mayBeOpen = asked.length === 0 || asked.some((group) => group.length === 0)
      const { status, text } = await gate.call(`/s/${index}`)
      const isOpen = status === 502
      if (!isOpen) assert.ok(status === 401 || status === 400 || status === 403, text)
      const places = [`paths["/${index}"]`, 'security', 'x-svc-api-gateway.server.authentication.enabled']
      const isWarned = warnings.some(({ path }) => places.some((place) => path.startsWith(place)))
      const shown = JSON.stringify({ global, own, isEnabled, status, warnings })
      assert.ok(isOpen === mayBeOpen || isWarned, shown)
      verdicts[isWarned ? 'warned' : isOpen ? 'open' : 'closed']++
    }
  } finally {
    await gate.svc('DELETE', '/svc/apis/s')
  }
}
