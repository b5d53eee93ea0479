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

/** Adds the last of these columns to `hit_dimension`. Its unique index is part of the table, so a new table replaces it; numbers stay. */
export function addDimensionSql(columns: readonly string[]): string {
  const before = columns.slice(0, -1).join(', ')
  return `
  ALTER TABLE hit_dimension RENAME TO hit_dimension_before;
  CREATE TABLE hit_dimension(
    row INTEGER PRIMARY KEY,
    ${columns.map((column) => `${column} TEXT NOT NULL`).join(', ')},
    UNIQUE (key_hash, api_id, ${columns.filter((column) => column !== 'key_hash' && column !== 'api_id').join(', ')})
  ) STRICT;
  INSERT INTO hit_dimension(row, ${columns.join(', ')}) SELECT row, ${before}, '' FROM hit_dimension_before;
  DROP TABLE hit_dimension_before;
  CREATE INDEX hit_dimension_by_client ON hit_dimension(client_id) WHERE client_id <> '';
  `
}
