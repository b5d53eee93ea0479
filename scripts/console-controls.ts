// node scripts/run.mjs scripts/console-controls.ts: names the controls of the console that no journey used, after the journeys
// of test/console have run. Ends with 1 when there are any.

import { readControls, unreached } from '../test/worlds/console/reached.ts'
import { CONTROLS_FOLDER } from '../test/worlds/console/recorder.ts'

const controls = readControls(CONTROLS_FOLDER)
const left = unreached(controls)
for (const name of left) console.log(name)
const seen = new Set(controls.filter(({ fate }) => fate === 'seen').map(({ page }) => page))
console.log(`${left.length} controls on ${seen.size} pages were used by no journey`)
process.exitCode = left.length === 0 && controls.length > 0 ? 0 : 1
