import type { JsonObject } from '../../json/json.ts'
import { CODINGS, type CompressionRules } from '../definition/api.ts'
import { flagOf, numberOf, objectOf, textsOf } from '../definition/members.ts'

/** A small answer fits into one packet as it is, and compressing it costs more than it saves. */
const DEFAULT_MINIMUM_BYTES = 1024

/** Reads `response_compression`; undefined where it is off. */
export function readCompression(classic: JsonObject): CompressionRules | undefined {
  const options = objectOf(classic, 'response_compression')
  if (!flagOf(options, 'enabled')) return undefined
  const named = textsOf(options, 'encodings')
  const encodings = named.flatMap((name) => CODINGS.filter((coding) => coding === name))
  return {
    encodings: encodings.length > 0 ? encodings : CODINGS,
    minimumBytes: numberOf(options, 'minimum_bytes') || DEFAULT_MINIMUM_BYTES,
  }
}
