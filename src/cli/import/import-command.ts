import type { Command } from '../commands/command.ts'
import type { ReadEntries } from './read-entries.ts'

const HELP = `  -d, --dashboard URL      the dashboard to import into; else SVC_SYNC_DASHBOARD
  -s, --secret CREDENTIAL  API credential of one of its users; better in SVC_SYNC_SECRET
  --from-redis URL         the other product's Redis: keys, quotas, OAuth clients; better in SVC_IMPORT_REDIS
  --definitions DIR        its API definitions, classic and OpenAPI, one or a list in each JSON file
  --policies PATH          its policies: a JSON file, or a folder of them
  --templates DIR          the folder that the gateway before ran in: body templates in files are taken from it into definitions
  --path-matching HOW      where paths of rules and rights match there: contains (default), begins, ends or whole, by its settings of prefix and suffix matching
  --raw-keys               the names in its key space are the keys themselves; else their form tells
  --redirect-separator C   what parts several addresses in one redirect_uri there
  -y, --yes                does it; without, only the report
  --json                   for programs`

/** `gatehouse import`. `read`: how its Redis is read. */
export function importCommand(read: ReadEntries): Command {
  return {
    name: 'import',
    summary: 'import APIs, policies, keys and OAuth clients from another gateway product',
    options: {
      dashboard: { type: 'string', short: 'd' },
      secret: { type: 'string', short: 's' },
      'from-redis': { type: 'string' },
      definitions: { type: 'string' },
      policies: { type: 'string' },
      templates: { type: 'string' },
      'path-matching': { type: 'string' },
      'raw-keys': { type: 'boolean' },
      'redirect-separator': { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      json: { type: 'boolean' },
    },
    help: HELP,
    examples: [
      ['import --definitions ./apps --policies ./policies.json', 'a report of what would be imported'],
      ['import --definitions ./apps --policies ./policies.json --yes', 'imports it'],
    ],
    exits: {
      0: 'done, or nothing to do, and nothing refused',
      1: 'failed; or something is refused, in the report or while --yes writes, or not served by a node. What is not refused is imported all the same',
      2: 'without --yes: there is something to do, and nothing refused',
    },
    run: async (context) => (await import('./run-import.ts')).runImport(context, read),
  }
}
