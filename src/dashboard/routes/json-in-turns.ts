import type { Json } from '../../model/json/json.ts'
import { jsonPieces } from '../../model/json/json-pieces.ts'
import { WorkSlice } from '../../runtime/turns.ts'

/** The JSON text of a value in pieces, which are made as they are asked for and in turns of the event loop. */
export async function* jsonInTurns(value: Json): AsyncGenerator<string> {
  const slice = new WorkSlice()
  for (const piece of jsonPieces(value)) {
    yield piece
    if (slice.isOver) await slice.next()
  }
}
