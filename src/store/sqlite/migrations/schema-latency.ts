/** The latency columns of `hit`, for the total (`t`) and the upstream (`u`) alike. */
export function latencyColumns(prefix: 't' | 'u'): { sum: string; min: string; max: string; buckets: string[] } {
  const buckets = Array.from({ length: 14 }, (_, i) => `${prefix}${i}`)
  return { sum: `${prefix}_sum`, min: `${prefix}_min`, max: `${prefix}_max`, buckets }
}

/** Their declarations. */
export const latencySql: string = (['t', 'u'] as const)
  .map(latencyColumns)
  .flatMap(({ sum, min, max, buckets }) => [
    ...[sum, min, max].map((name) => `${name} REAL NOT NULL`),
    ...buckets.map((name) => `${name} INTEGER NOT NULL`),
  ])
  .join(', ')
