import type { SourceFile } from './tree.ts'

/** Words that nobody in the field searches for, each with the word that replaced it. Names in camelCase and kebab-case are cut at their words. */
const RETIRED: Readonly<Record<string, string>> = {
  anew: 'again, or the verb with re-',
  astray: 'outOfSync',
  beside: 'metadata',
  doors: 'signInOptions',
  happening: 'event',
  happenings: 'events',
  held: 'buffered, owned, developer',
  kept: 'stored, preserved, supervised',
  lapsed: 'expired',
  obey: 'apply',
  owed: 'pending',
  seen: 'view, visible',
  sight: 'visibility',
  stand: 'context, deps',
  standing: 'state, status, version',
  standings: 'syncStatus',
  taker: 'consumer',
  told: 'response, reported',
  whoever: 'the noun',
  wish: 'feature',
  wishes: 'features',
}

/** Names that are private as a whole. */
const RETIRED_NAMES: Readonly<Record<string, string>> = {
  Ahead: 'LeaseAhead',
  Alone: 'DegradedCounters',
  Holders: 'LeaseHolders',
  LinkDesk: 'MailLinkQueue',
  Rounds: 'PermitBatcher, MaintenanceSchedule',
  Tries: 'AttemptLimiter',
  Words: 'PersistentMap',
  again: 'retryOnConflict',
  civil: 'calendar',
  copyText: 'flattenString',
  goOn: 'the verb of what goes on',
  inTurn: 'withLock',
  'in-turn': 'with-lock',
  'foreign-keys': 'incumbent-keys',
  leadOn: 'redirectInternally',
  'lead-on': 'redirect-internally',
  'link-desk': 'mail-link-queue',
  marks: 'placeholders',
  'narrow-session': 'scope-session',
  oneCopy: 'intern',
  'one-copy': 'intern',
  rounds: 'the noun of what is batched',
  tried: 'retryOnConflict',
  tries: 'attempt-limiter',
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|function\*?|const|let|enum) ([A-Za-z_$][\w$]*)/
/** A declaration at the margin that only its file sees. */
const LOCAL = /^(?:abstract )?(?:async )?(?:class|interface|type|function\*?|const|let|enum) ([A-Za-z_$][\w$]*)/
/** A variable or a member further in. */
const INNER = /^\s+(?:(?:readonly|private|static|const|let) )+#?([A-Za-z_$][\w$]*)/
/** Retired words that no declaration has, exported or not. The others are ordinary verbs in a name with more words. */
const NOWHERE: ReadonlySet<string> = new Set([
  ...[
    'anew',
    'astray',
    'beside',
    'happening',
    'happenings',
    'lapsed',
    'obey',
    'owed',
    'sight',
    'standing',
    'standings',
  ],
  ...['taker', 'told', 'whoever', 'wish', 'wishes'],
])
const PROGRAMS = ['src/', 'console/src/'] as const
const programOf = (path: string): string | undefined => PROGRAMS.find((program) => path.startsWith(program))

/** Retired words in file names and in declared names of the server and the console. */
export function checkWords({ path, lines }: SourceFile): string[] {
  if (programOf(path) === undefined) return []
  const file = path.split('/').at(-1)!.split('.')[0]!
  const names = [{ name: file, at: path }]
  for (const [i, line] of lines.entries()) {
    const local = (LOCAL.exec(line) ?? INNER.exec(line))?.[1]
    const isPrivate = local !== undefined && wordsOf(local).some((word) => NOWHERE.has(word))
    const name = EXPORT.exec(line)?.[1] ?? (isPrivate ? local : undefined)
    if (name !== undefined) names.push({ name, at: `${path}:${i + 1}` })
  }
  return names.flatMap(({ name, at }) => {
    const found =
      RETIRED_NAMES[name] ??
      wordsOf(name)
        .map((word) => RETIRED[word])
        .find((word) => word !== undefined)
    return found === undefined ? [] : [`${at} ${name} has a retired word: ${found}`]
  })
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_-]/)
    .map((word) => word.toLowerCase())
}

/** Adapters of one port, and layers that have one concept, may each export it under the name that the concept has. */
const SAME_CONCEPT: readonly { readonly reason: string; readonly names: readonly string[] }[] = [
  {
    reason:
      'what an adapter makes of a port: one in PostgreSQL, one in SQLite or memory, which never import each other',
    names: [
      ...['HitJournal', 'REF', 'SessionPage', 'Sql', 'Undo', 'auditReader', 'documentReader', 'isEvicted', 'migrate'],
      ...['outboxReader', 'packEvents', 'pageSql', 'recordsOf', 'toHit', 'tokenReader', 'unpackEvents', 'usageSql'],
      ...['valuesBySql', 'valuesSql'],
    ],
  },
  {
    reason: 'calls about one noun, in the administration API of the gateway and in the API of the dashboard',
    names: [
      ...['adminRoutes', 'apiRoutes', 'certificateRoutes', 'healthRoutes', 'keyRoutes', 'oauthClientRoutes'],
      ...['oauthTokenRoutes', 'policyRoutes', 'pageOf', 'signingKeyRoutes'],
    ],
  },
  {
    reason:
      'builders of three schema languages (settings, definitions, sessions), which are read as one vocabulary each',
    names: ['flag', 'list', 'map', 'number', 'object', 'oneOf', 'text', 'whole'],
  },
]
const ALLOWED: ReadonlySet<string> = new Set(SAME_CONCEPT.flatMap(({ names }) => names))

/** Exported names of `src` with more than one declaration: what a reader looks for is one thing. */
export function checkDeclaredOnce(files: readonly SourceFile[]): string[] {
  const places = new Map<string, Set<string>>()
  for (const { path, lines } of files) {
    if (!path.startsWith('src/')) continue
    for (const line of lines) {
      const name = EXPORT.exec(line)?.[1]
      if (name === undefined || ALLOWED.has(name)) continue
      places.set(name, (places.get(name) ?? new Set()).add(path))
    }
  }
  return [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name} is declared in ${[...paths].join(' and ')}: give each its own name, or share one`)
}
