import type { Config } from '../../config/schema.ts'
import type { Metrics } from '../record/metrics.ts'
import type { Telemetry } from './open.ts'

interface LoadParts {
  readonly config: Pick<Config, 'opentelemetry'>
  readonly version: string
  readonly nodeName: string
}

/** Loads what traces and metrics take where they are switched on; undefined where they are not, and nothing is loaded. */
export async function telemetryOf(parts: LoadParts, metrics: Metrics): Promise<Telemetry | undefined> {
  const { config, version, nodeName } = parts
  if (!config.opentelemetry.enabled) return undefined
  const { openTelemetry } = await import('./open.ts')
  return openTelemetry({ settings: config.opentelemetry, metrics, version, nodeName })
}
