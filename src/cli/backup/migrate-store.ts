import { loadConfig } from '../../config/load.ts'
import { fault } from '../../errors/fault.ts'
import { isEmbedded } from '../../model/nodes/node.ts'
import { giveUpMove, migrateStore, moveTargetOf } from '../../process/migrate-store.ts'
import type { CommandContext } from '../commands/command.ts'
import { openProgress, stoppable } from '../commands/progress.ts'

/** `gatehouse migrate-store`: moves the store of a running installation into an empty one of either kind. */
export async function migrate(context: CommandContext): Promise<number> {
  const { options, cwd, print } = context
  const { config } = loadConfig(context)
  if (options['give-up'] === true) {
    const isLifted = await giveUpMove(config.storage)
    print(isLifted ? 'The store takes writes again.' : 'There is no move to give up: the store takes writes.')
    return 0
  }
  const to = typeof options.to === 'string' ? options.to : ''
  if (to === '') throw fault('option_invalid', '--to: name the store to move to')
  const target = moveTargetOf(to, typeof options.redis === 'string' ? options.redis : '', cwd)
  const json = options.json === true
  const progress = openProgress({ unit: 'rows', json })
  const moved = await stoppable('the move was stopped; the store takes writes as before', (stop) =>
    migrateStore(config.storage, target, {
      onStep: (step, rows) => progress.begin(step, rows),
      onRows: (rows) => progress.advance(rows),
      stop,
    }),
  ).finally(() => progress.end())
  const { counts, revision, frozenMs } = moved
  if (json) print(JSON.stringify({ counts, revision, frozen_ms: Math.round(frozenMs) }))
  else for (const line of nextSteps(!isEmbedded(target), moved)) print(line)
  return 0
}

function nextSteps(
  isCluster: boolean,
  { counts, revision, frozenMs }: Awaited<ReturnType<typeof migrateStore>>,
): string[] {
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return [
    `Moved ${rows.toLocaleString('en-US')} rows, revision ${revision}. Writes were refused for ${(frozenMs / 1000).toFixed(1)} s until the copy was whole, and are until the next steps are done:`,
    isCluster
      ? '1. Start the new nodes with storage.postgres_url, storage.redis_url, and the storage.seal_key, gateway.secret and dashboard.admin_secret of the old one: settings, or else seal_key, gateway_secret and admin_secret in secrets.json of its data folder.'
      : '1. Start the server with storage.path, and with the secrets of the old one: keep the settings that give them, and copy secrets.json of the old data folder for those that no setting gives.',
    '2. Send callers to them.',
    '3. Stop the old server. It serves reads until then, and does not start again on the store that was moved.',
    'To go back instead, while nothing was written to the new store: bin/gatehouse migrate-store --give-up',
  ]
}
