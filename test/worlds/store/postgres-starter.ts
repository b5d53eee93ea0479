// A process that starts a throw-away PostgreSQL, says where, and waits to be killed.
import { startPostgres } from '../../../scripts/servers.mjs'
import { runSql } from '../servers/postgres.ts'

const server = await startPostgres()
const [row] = await runSql<{ pid: number }>(
  server.url(),
  `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
)
process.stdout.write(`started ${row?.pid} ${server.folder}\n`)
process.stdin.on('end', () => process.exit()).resume()
