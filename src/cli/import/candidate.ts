import type { JsonObject } from '../../model/json/json.ts'
import type { MoveKind } from '../moves/kind.ts'

/** An object that could be taken. */
export interface ImportCandidate {
  readonly kind: MoveKind
  readonly identity: string
  /** Where it is in the source, without secrets. */
  readonly from: string
  readonly body: JsonObject
  /** What is another than it was there. */
  readonly changes: readonly string[]
}

/** An object that is not taken. */
export interface ImportRefusal {
  readonly from: string
  readonly why: string
}

/** What was read of one sort. */
export interface Read {
  readonly candidates: ImportCandidate[]
  readonly refused: ImportRefusal[]
}
