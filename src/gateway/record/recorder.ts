import type { AccessLog } from './access-log.ts'
import type { Sample } from './sample.ts'

/** Counts each finished request in all three places: hits, metrics, access log. */
export class Recorder {
  /** Filled and handed to `count` synchronously when a request finishes: only one request at a time fills it. */
  readonly sample: Sample
  readonly #log: AccessLog | undefined

  constructor(sample: Sample, log: AccessLog | undefined) {
    this.sample = sample
    this.#log = log
  }

  /** Counts one finished request, once: into its hits, its API's metrics and the access log. Keeps nothing of the sample. */
  count(sample: Sample): void {
    sample.hits?.add(sample.status, sample.totalMs, sample.upstreamMs, sample.wallMs)
    sample.metrics?.add(sample.status, sample.totalMs, sample.upstreamMs, sample.passedOn)
    if (sample.cutBy !== '') sample.metrics?.cut(sample.cutBy)
    this.#log?.push(sample)
  }
}
