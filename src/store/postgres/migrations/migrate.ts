import { fault, waitFault } from '../../../errors/fault.ts'
import { withDimensionSteps } from '../../hits/dimension-steps.ts'
import type { Db, Tx } from '../connection/db.ts'
import { sqlState } from '../connection/faults.ts'
import {
  dimensionColumnSql,
  HIT_JOURNAL,
  HITS_BY_MINUTE,
  HITS_SCHEMA,
  RECORDS_BY_REQUEST_ID,
  RECORDS_COVERED,
} from '../hits/hit-schema.ts'
import { FIRST } from './schema.ts'

/** One version of the schema. */
export interface SchemaStep {
  readonly statements: readonly string[]
  /**
   * True when programs of the previous version cannot run alongside it. Others can: during a rolling upgrade both work with the
   * data, so a step that only adds should not be one of these.
   */
  readonly breaks?: boolean
}

/** One that was released never changes: append. The columns of dimensions that came later join at their versions. */
export const SCHEMA_STEPS: readonly SchemaStep[] = withDimensionSteps(
  'postgres',
  [
    { statements: [...FIRST, ...HITS_SCHEMA] },
    { statements: RECORDS_COVERED },
    { statements: HIT_JOURNAL },
    { statements: RECORDS_BY_REQUEST_ID },
    { statements: HITS_BY_MINUTE },
  ],
  (columns) => ({ statements: [dimensionColumnSql(columns.at(-1)!)] }),
)

/** "Gath": the migration's number among the advisory locks of the database. */
const LOCK = 0x47617468
const DUPLICATE_TABLE = '42P07'

interface Version {
  readonly version: number
  /** The oldest version of a program that may work with the data. */
  readonly needs: number
}

/**
 * Brings a database to the newest version, one process at a time, or leaves it as it was. Data of a later version is taken as
 * it is when that version says that programs of this one can work with it.
 * @throws Fault `store_newer` when they cannot, `store_damaged` when the tables are another program's, `store_refused`, `store_away`
 */
export async function migrate(db: Db, steps: readonly SchemaStep[] = SCHEMA_STEPS): Promise<void> {
  if (isNewest(await readDatabaseVersion(db), steps)) return
  await db.transact(async (tx) => {
    // For this transaction, so that it holds behind a pooler as well.
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const found = await readDatabaseVersion(tx)
    if (isNewest(found, steps)) return
    if (found.version === 0) await begin(tx)
    for (let next = found.version; next < steps.length; next++) await runStep(tx, steps[next]!, next + 1)
    await tx.run('UPDATE store_state SET needs = greatest(needs, $1)', [neededBy(steps)])
  })
}

/** Added to what a database needs while nothing may be written to it: every group of commits looks at it. */
export const FROZEN = 1_000_000
/** A freeze is over, or given up, in about this time. */
const RETRY_AFTER_MS = 5_000

/** @throws Fault `store_newer` when a program that knows so many versions must not write */
export function checkNeeds(needs: number, known = SCHEMA_STEPS.length): void {
  if (needs >= FROZEN) throw waitFault('store_frozen', RETRY_AFTER_MS)
  if (needs <= known) return
  throw fault(
    'store_newer',
    `the database needs a program of version ${needs} or later, this one knows ${known}: start the newer program again, or restore the backup from before its upgrade`,
  )
}

function isNewest({ version, needs }: Version, steps: readonly SchemaStep[]): boolean {
  checkNeeds(needs, steps.length)
  return version >= steps.length
}

/** The version of a database, 0 = it has no tables of ours. */
export async function readDatabaseVersion(tx: Pick<Tx, 'query'>): Promise<Version> {
  const [made] = await tx.query<{ name: string | null }>("SELECT to_regclass('gatehouse_version')::text AS name")
  if (made?.name === null || made === undefined) return { version: 0, needs: 0 }
  const [row] = await tx.query<Version>(
    'SELECT coalesce(max(version), 0) AS version, coalesce(max(needs), 0) AS needs FROM gatehouse_version',
  )
  return row!
}

async function begin(tx: Tx): Promise<void> {
  const [row] = await tx.query<{ server_encoding: string }>('SHOW server_encoding')
  if (row?.server_encoding !== 'UTF8') {
    throw fault('store_refused', `the database has the encoding ${row?.server_encoding}; make one with UTF8`)
  }
  await tx.run(
    'CREATE TABLE gatehouse_version(version int PRIMARY KEY, needs int NOT NULL, at timestamptz NOT NULL DEFAULT now())',
  )
}

async function runStep(tx: Tx, step: SchemaStep, version: number): Promise<void> {
  try {
    for (const statement of step.statements) await tx.run(statement)
  } catch (error) {
    if (sqlState(error) !== DUPLICATE_TABLE) throw error
    const text = error instanceof Error ? error.message : ''
    throw fault(
      'store_damaged',
      `the database holds tables of another program; nothing was changed in it: ${text}`,
      error,
    )
  }
  const needs = step.breaks ? version : 1
  await tx.run('INSERT INTO gatehouse_version(version, needs) VALUES ($1, $2)', [version, needs])
}

function neededBy(steps: readonly SchemaStep[]): number {
  return 1 + steps.findLastIndex(({ breaks }, i) => i > 0 && breaks === true) || 1
}
