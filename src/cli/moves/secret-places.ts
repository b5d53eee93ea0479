import type { Json } from '../../model/json/json.ts'
import { secretsOf } from '../../model/secrets/secret-places.ts'
import type { Path } from './paths.ts'

/**
 * Where a document holds secrets that a file is not to hold. Values of header fields count by their names alone: what is sent on is
 * part of what people review.
 */
export function secretPlaces(value: Json, path: Path = []): Path[] {
  return secretsOf(value)
    .filter(({ header }) => !header)
    .map((place) => [...path, ...place.path])
}
