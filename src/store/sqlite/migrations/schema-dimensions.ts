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
