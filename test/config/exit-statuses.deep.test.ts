import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic } from '../worlds/base/definitions.ts'
import { type Environment, folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'

const UP = 'http://upstream.test/'
const graphql = { graphql: { enabled: true, schema: 'type Query { a: Int }' } }
const api = (id: string, more: JsonObject = {}) => classic(id, `/${id}/`, UP, more)

/** Command lines in order, `DIR` = a folder with these definitions, each with its exit status. An installation for each command. */
interface Line {
  readonly apis?: readonly JsonObject[]
  readonly line: readonly string[]
  readonly status: number
  readonly before?: (world: Environment) => Promise<unknown>
  /** Shown by the output. */
  readonly says?: RegExp
}

const good = [api('a')]
const mixed = [api('a'), api('b', graphql)]
const bad = [api('b', graphql)]
const unserved = /does not serve API a/
const brokenNode = (world: Environment) => {
  const now = new Date(world.clock.wall()).toISOString()
  const body = {
    ...{ name: 'broken', hostname: 'broken', version: '1', management: false, segmented: false, tags: [], up: true },
    ...{ behind: false, revision: Number.MAX_SAFE_INTEGER, loaded: 0, troubled: 1, started_at: now, seen_at: now },
    troubles: [{ api_id: 'a', state: 'failed', reason: 'none', revision: 0 }],
  }
  return world.gateway.store.documents.commit([{ op: 'put', kind: 'node', id: newDocumentId(7), body }], undefined)
}

const writing = (name: string): Line[] => [
  { apis: mixed, line: [name, '-p', 'DIR'], status: 1, says: /graphql/i },
  { apis: mixed, line: [name, '-p', 'DIR', '--yes'], status: 1, says: /graphql/i },
  { apis: mixed, line: [name, '-p', 'DIR', '--yes', '--json'], status: 1, says: /graphql/i },
  { apis: good, line: [name, '-p', 'DIR'], status: 2 },
  { apis: good, line: [name, '-p', 'DIR', '--json'], status: 2 },
  { apis: good, line: [name, '-p', 'DIR', '--yes'], status: 1, before: brokenNode, says: unserved },
  { apis: good, line: [name, '-p', 'DIR'], status: 0 },
  { apis: good, line: [name, '-p', 'DIR', '--yes', '--json'], status: 0 },
]

const LINES: Readonly<Record<string, readonly Line[]>> = {
  dump: [
    { line: ['dump', '-t', 'DIR'], status: 0 },
    { line: ['dump', '-t', 'DIR', '--apis', 'none'], status: 1, says: /has no API none/ },
  ],
  diff: [
    { apis: mixed, line: ['diff', '-p', 'DIR'], status: 1, says: /graphql/i },
    { apis: good, line: ['diff', '-p', 'DIR'], status: 2 },
    { apis: [], line: ['diff', '-p', 'DIR', '--apis'], status: 0 },
  ],
  sync: writing('sync'),
  apply: writing('apply'),
  publish: writing('publish'),
  validate: [
    { apis: good, line: ['validate', '-p', 'DIR'], status: 0 },
    { apis: mixed, line: ['validate', '-p', 'DIR'], status: 1, says: /graphql/i },
    { apis: mixed, line: ['validate', '-p', 'DIR', '--json'], status: 1, says: /graphql/i },
  ],
  import: [
    { apis: bad, line: ['import', '--definitions', 'DIR/apis'], status: 1, says: /GraphQL/ },
    { apis: bad, line: ['import', '--definitions', 'DIR/apis', '--json'], status: 1, says: /GraphQL/ },
    { apis: mixed, line: ['import', '--definitions', 'DIR/apis'], status: 1, says: /GraphQL/ },
    { apis: good, line: ['import', '--definitions', 'DIR/apis'], status: 2 },
    { apis: mixed, line: ['import', '--definitions', 'DIR/apis', '--yes'], status: 1, says: /but for 1 refused/ },
    { apis: good, line: ['import', '--definitions', 'DIR/apis'], status: 0, says: /1 there already/ },
    { apis: mixed, line: ['import', '--definitions', 'DIR/apis', '--yes'], status: 1, says: /GraphQL/ },
    { apis: [api('c'), ...bad], line: ['import', '--definitions', 'DIR/apis', '--yes', '--json'], status: 1 },
    { apis: [api('d')], line: ['import', '--definitions', 'DIR/apis', '--yes'], status: 0, says: /Done\.$/ },
  ],
}

test('commands that report refusals end with the status that their help lists', async (t) => {
  for (const [name, lines] of Object.entries(LINES)) {
    const world = await startEnvironment(t)
    const where = ['-d', `http://127.0.0.1:${world.dashboard.port}/`, '-s', world.admin.key]
    const { exits } = COMMANDS.find((command) => command.name === name)!
    for (const { apis, line, status, before, says } of lines) {
      const dir = folderFor(t)
      if (apis !== undefined) mkdirSync(join(dir, 'apis'))
      for (const each of apis ?? []) writeFileSync(join(dir, 'apis', `${each.api_id}.json`), JSON.stringify(each))
      await before?.(world)
      const words = line.map((word) => word.replace('DIR', dir))
      const ran = await runLine([...words, ...(name === 'validate' ? [] : where)], {}, COMMANDS)
      const output = `${ran.out}\n${ran.err}`
      assert.equal(ran.status, status, `${line.join(' ')}\n${output}`)
      if (says !== undefined) assert.match(output.trim(), says, line.join(' '))
    }
    const seen = new Set(lines.map((each) => String(each.status)))
    assert.deepEqual([...seen].sort(), Object.keys(exits), name)
  }
})
