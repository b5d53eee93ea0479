import { findingWarnings } from '../../model/apis/check/definition-warnings.ts'
import { pathFlaws } from '../../model/apis/check/path-flaws.ts'
import { writtenFieldFlaws } from '../../model/apis/check/written-fields.ts'
import type { Api, ApiDocument } from '../../model/apis/definition/api.ts'
import { toWords } from '../../model/apis/definition/tree.ts'
import { carriesClassic } from '../../model/apis/read/read.ts'
import type { PausedWork } from '../../model/threads/paused-work.ts'

/** Rules of a definition that do nothing, most of which a save would refuse today, and what of it is not checked; '' = nothing. */
export function* idleRules(api: Api, document: ApiDocument): PausedWork<string> {
  const { format, definition } = document
  const ofPaths = pathFlaws(api, carriesClassic(document))
  yield
  const ofFields = writtenFieldFlaws(format, definition)
  yield
  const [first, ...more] = [...ofPaths, ...ofFields, ...(yield* findingWarnings(document)), ...(api.unchecked ?? [])]
  if (first === undefined) return ''
  return `${toWords(first.at)}: ${first.reason}${more.length > 0 ? `; and ${more.length} more` : ''}`
}
