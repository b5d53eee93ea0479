import type { JsonObject } from '../../model/json/json.ts'
import type { MoveKind } from '../moves/kind.ts'

/** An object that could be taken. */
export interface ImportCandidate {
  readonly kind: MoveKind
  readonly identity: string
  /** Where it is in the source, without secrets. */
  readonly from: string
  readonly body: JsonObject
  /** Members that differ from those at the source. */
  readonly changes: readonly string[]
}

/** An object that is not taken. */
export interface ImportRefusal {
  readonly from: string
  readonly why: string
}

/** The objects of one kind that were read. */
export interface Read {
  readonly candidates: ImportCandidate[]
  readonly refused: ImportRefusal[]
}
