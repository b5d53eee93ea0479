import { test } from 'node:test'
import { NO_CODE } from '../../../src/model/apis/check/value-schema.ts'
import { SchemaDefaults } from '../../../src/model/apis/read/schema-defaults.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

const WIDE = 64
const times = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at))
const choice = (keyword: string) => ({ [keyword]: times(WIDE, () => ({})) })

test('the defaults of a document are read in time that grows with it', async () => {
  const shapes: Readonly<Record<string, (count: number) => JsonObject>> = {
    'one anyOf': (count) => ({ anyOf: times(count, () => ({})) }),
    'one oneOf that comes back': (count) => ({ oneOf: times(count, () => ({ $ref: '#/s' })) }),
    'one allOf': (count) => ({ allOf: times(count, () => ({})) }),
    'one allOf that comes back': (count) => ({ allOf: times(count, () => ({ $ref: '#/s' })) }),
    'a chain that comes back': (count) => ({
      allOf: times(count, (at) => ({ $ref: at + 1 < count ? `#/s/allOf/${at + 1}` : '#/s' })),
    }),
    'many choices': (count) => ({ allOf: times(count / WIDE, (at) => choice(at % 2 === 0 ? 'anyOf' : 'oneOf')) }),
  }
  for (const [name, of] of Object.entries(shapes)) {
    const document = (length: number) => JSON.stringify({ s: of(length / 16) })
    const schema = { fits: () => true, code: NO_CODE }
    const read = (text: string) => new SchemaDefaults(JSON.parse(text) as JsonObject, () => schema).at(['s']).fills
    await assertLinear(name, read, document, 65_536)
  }
})
