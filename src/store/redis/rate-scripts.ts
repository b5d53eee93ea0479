import type { RateAlgorithmName } from '../../model/limits/rate-algorithms.ts'
import type { RateScript } from './scripts.ts'
import { SLIDING_WINDOW_SCRIPT } from './sliding-window-script.ts'

/** The algorithms as Redis runs them. */
export const RATE_SCRIPTS: Readonly<Record<RateAlgorithmName, RateScript>> = {
  sliding_window: SLIDING_WINDOW_SCRIPT,
}
