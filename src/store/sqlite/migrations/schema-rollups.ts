import { latencySql } from './schema-latency.ts'

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
