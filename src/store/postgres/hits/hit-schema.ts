import { columnsUntil } from '../../hits/dimension-steps.ts'
import { HIT_TABLES, timeColumn } from '../../hits/hit-times.ts'
import { NUMBERS } from './hit-columns.ts'

const C = 'text COLLATE "C" NOT NULL'

/** Hits and single requests. Their tables have no rows themselves: see `Months`. */
export const HITS_SCHEMA: readonly string[] = [
  // Dimensions are long and repeat every hour: each set of them is stored once and known by a number, which fits 32 bits.
  `CREATE TABLE hit_dimension(
    number bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
    hash bytea NOT NULL UNIQUE, -- SHA-256 of all texts: some are longer than an index takes
    ${columnsUntil('postgres', 1)
      .map((name) => `${name} ${C}`)
      .join(', ')}
  )`,
  'CREATE INDEX hit_dimension_by_key ON hit_dimension USING hash (key_hash)',
  'CREATE INDEX hit_dimension_by_api ON hit_dimension USING hash (api_id)',
  "CREATE INDEX hit_dimension_by_client ON hit_dimension(client_id) WHERE client_id <> ''",

  // Apart from the texts of the dimensions: it changes once a day for each of them.
  `CREATE TABLE hit_dimension_use(
    dimension bigint PRIMARY KEY,
    coarse bigint NOT NULL, -- the set of dimensions that stands for it in hit_api
    last_day int NOT NULL   -- when a hit was last added, by the clock of who added it
  )`,
  'CREATE INDEX hit_dimension_use_by_day ON hit_dimension_use(last_day)',

  // Of a key over a year, or of everything in a month: the first finds by its primary key, the second reads whole parts.
  ...HIT_TABLES.flatMap((table) => [
    `CREATE TABLE ${table}(
      ${timeColumn(table)} bigint NOT NULL,
      dimension bigint NOT NULL,
      status int NOT NULL,
      ${NUMBERS.map(({ name, type }) => `${name} ${type} NOT NULL`).join(', ')},
      PRIMARY KEY (dimension, ${timeColumn(table)}, status)
    ) PARTITION BY RANGE (${timeColumn(table)})`,
    `CREATE INDEX ${table}_by_time ON ${table} USING brin (${timeColumn(table)}) WITH (pages_per_range = 16)`,
  ]),

  // The last batch of hits of each source, so that a repeated one is not counted twice.
  `CREATE TABLE hit_source(
    source ${C} PRIMARY KEY,
    number bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50)`,

  // Numbers are assigned under a lock, so that followers never see a smaller number after a larger one.
  'CREATE SEQUENCE record_number',
  `CREATE TABLE record(
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    org_id ${C},
    api_id ${C},
    status int NOT NULL,
    method ${C},
    key_hash ${C},
    client_id ${C},
    tags ${C}, -- between commas
    path ${C},
    fields text NOT NULL, -- the rest, as JSON
    -- Heads and bodies, of the few requests that are recorded whole.
    request bytea,
    response bytea
  ) PARTITION BY RANGE (at_ms)`,
  'CREATE INDEX record_by_time ON record(at_ms, number)',
  'CREATE INDEX record_by_number ON record(number)',

  // Requests that were left out because too many came, or that could not be stored.
  `CREATE TABLE record_dropped(
    minute bigint NOT NULL, -- since 1970
    org_id ${C},
    api_id ${C},
    count bigint NOT NULL,
    PRIMARY KEY (minute, org_id, api_id)
  )`,
]

/**
 * The second step: a page of records comes with the number of all that match, which is read from the index alone. Of 100,000
 * records 18 ms of CPU instead of 31; a record costs no more to write.
 */
export const RECORDS_COVERED: readonly string[] = [
  'CREATE INDEX record_covered ON record(at_ms, number) INCLUDE (org_id, api_id, status)',
  'DROP INDEX record_by_time',
]

/**
 * The third: requests are kept as they came until one process works them in, many at a time. A program of the version before
 * writes rows beside that, and does not see what waits, two minutes at most.
 */
export const HIT_JOURNAL: readonly string[] = [
  `CREATE TABLE hit_journal(
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    hour bigint NOT NULL,
    samples bytea NOT NULL CHECK (length(samples) % 16 = 0) -- four little-endian words for each request
  )`,
  // They do not get smaller, and are gone soon.
  'ALTER TABLE hit_journal ALTER COLUMN samples SET STORAGE EXTERNAL',
]

/**
 * The fourth: records are found by the id of their request, whatever their age. Those that are stored have it among their other
 * fields, in which an unescaped quotation mark is no part of a text; those that a program of the version before adds meanwhile
 * are not found by it.
 */
export const RECORDS_BY_REQUEST_ID: readonly string[] = [
  `ALTER TABLE record ADD COLUMN request_id ${C} DEFAULT ''`,
  `UPDATE record SET request_id = coalesce(substring(fields from '[{,]"request_id":"([A-Za-z0-9._:+/=@~-]{1,128})"'), '')`,
  "CREATE INDEX record_by_request_id ON record(request_id) WHERE request_id <> ''",
]

/**
 * The fifth: counts by minute, for some days, by their time first: they are read and deleted by it. From `from_minute` on all requests
 * are in. A program of the version before adds none; where one rolls up requests after the upgrade, their minutes are missing.
 */
export const HITS_BY_MINUTE: readonly string[] = [
  `CREATE TABLE hit_minute(
    minute bigint NOT NULL,
    dimension bigint NOT NULL,
    status int NOT NULL,
    ${NUMBERS.map(({ name, type }) => `${name} ${type} NOT NULL`).join(', ')},
    PRIMARY KEY (minute, dimension, status)
  ) WITH (fillfactor = 70)`,
  'CREATE TABLE hit_minute_state(one int PRIMARY KEY CHECK (one = 1), from_minute bigint NOT NULL)',
  'INSERT INTO hit_minute_state SELECT 1, coalesce(max(hour) + 1, 0) * 60 FROM hit',
]

/** Adds the column of a later dimension. Programs of the version before write none, which is ''. */
export function dimensionColumnSql(column: string): string {
  return `ALTER TABLE hit_dimension ADD COLUMN ${column} ${C} DEFAULT ''`
}
