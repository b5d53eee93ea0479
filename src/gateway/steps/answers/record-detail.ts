import { Detail } from '../../record/detail.ts'
import type { RecordBook } from '../../record/record-book.ts'
import type { RecordPlan } from '../../record/record-plan.ts'
import type { Step } from '../../server/exchange.ts'

/** Keeps head and body of the request, and of its answer when it comes. The first step of all: nothing was taken out yet. */
export function recordDetail(plan: RecordPlan | undefined, book: RecordBook | undefined): Step | undefined {
  if (plan === undefined || book === undefined || !plan.detailed) return undefined
  return function recordDetail(x) {
    if (x.dry) return undefined
    x.recording = book.admit(x.startedAt) ? 'admitted' : 'left out'
    if (x.recording === 'admitted') x.bodyObserver = new Detail(x, book.detailBytes)
    return undefined
  }
}
