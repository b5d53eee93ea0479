/** Their declarations. */
export const latencySql: string = (['t', 'u'] as const)
  .map(latencyColumns)
  .flatMap(({ sum, min, max, buckets }) => [
    ...[sum, min, max].map((name) => `${name} REAL NOT NULL`),
    ...buckets.map((name) => `${name} INTEGER NOT NULL`),
  ])
  .join(', ')

const NUMBERS = `
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    ${latencySql}`

/**
 * The same hits by day, and by hour and day without what tells callers apart (key, alias, client, tags): so that a month of a
 * busy installation is some thousand rows. Filled by `fillRollUps` where there are hits already.
 */
export const ROLL_UPS = `
  CREATE TABLE hit_day(day INTEGER NOT NULL, ${NUMBERS}, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;
  CREATE TABLE hit_api(hour INTEGER NOT NULL, ${NUMBERS}, PRIMARY KEY (hour, dimension, status)) STRICT, WITHOUT ROWID;
  CREATE TABLE hit_api_day(day INTEGER NOT NULL, ${NUMBERS}, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;

  -- Apart from the texts of the dimensions: it changes once a day for each of them.
  CREATE TABLE hit_dimension_use(
    dimension INTEGER PRIMARY KEY,
    coarse INTEGER NOT NULL, -- the set of dimensions that stands for it in hit_api
    last_day INTEGER NOT NULL -- when a hit was last added, by the clock of the machine
  ) STRICT;
  CREATE INDEX hit_dimension_use_by_day ON hit_dimension_use(last_day);
  CREATE INDEX hit_dimension_by_client ON hit_dimension(client_id) WHERE client_id <> '';

  CREATE TABLE hit_rolled_up(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    done INTEGER NOT NULL -- 0: hits from before these tables are to be added to them
  ) STRICT;
  INSERT INTO hit_rolled_up VALUES (1, 0);
`

/** The hits of whole months, made of `hit_day` when a month is over; see `HitMonths`. */
export const MONTHS = `
  CREATE TABLE hit_month(day INTEGER NOT NULL, ${NUMBERS}, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;

  CREATE TABLE hit_month_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    from_day INTEGER NOT NULL, -- the first day that is in hit_month; -1 = none is
    day INTEGER NOT NULL,      -- how far, up to and with this row of hit_day
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL
  ) STRICT;
  INSERT INTO hit_month_state VALUES (1, -1, -1, -1, -1);
`

/**
 * The same hits by minute, for some days, of the dimensions that an incident needs. From `from_minute` on all requests are in: not
 * those of hours that were begun before there was the table.
 */
export const MINUTES = `
  CREATE TABLE hit_minute(minute INTEGER NOT NULL, ${NUMBERS}, PRIMARY KEY (minute, dimension, status)) STRICT, WITHOUT ROWID;

  CREATE TABLE hit_minute_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    from_minute INTEGER NOT NULL -- since 1970
  ) STRICT;
  INSERT INTO hit_minute_state SELECT 1, coalesce(max(hour) + 1, 0) * 60 FROM hit;
`

/** The latency columns of `hit`, for the total (`t`) and the upstream (`u`) alike. */
export function latencyColumns(prefix: 't' | 'u'): { sum: string; min: string; max: string; buckets: string[] } {
  const buckets = Array.from({ length: 14 }, (_, i) => `${prefix}${i}`)
  return { sum: `${prefix}_sum`, min: `${prefix}_min`, max: `${prefix}_max`, buckets }
}

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
