import { toFault } from '../../errors/fault.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { DashboardApi } from './dashboard.ts'
import { type Path, pathOfWords } from './paths.ts'

/** The kinds that can be chosen on the command line. */
export const CHOICES = ['labels', 'groups', 'hooks', 'apis', 'policies', 'clients', 'keys', 'portal'] as const
export type Choice = (typeof CHOICES)[number]

/** The name of a flaw, by which scripts and people look it up in the documentation. */
export type MoveFlawName =
  | 'file_unreadable'
  | 'file_malformed'
  | 'named_twice'
  | 'field_invalid'
  | 'id_missing'
  | 'id_twice'
  | 'version_unknown'
  | 'env_missing'
  | 'mark_malformed'
  | 'sealed_unreadable'
  | 'secret_missing'
  | 'not_there'
  | 'already_there'
  | 'api_missing'
  | 'policy_missing'
  | 'label_missing'
  | 'hook_missing'
  | 'documentation_missing'
  | 'certificate_missing'
  | 'name_ambiguous'
  | 'format_differs'
  | 'policy_id_lost'
  | 'listen_path_taken'
  | 'name_taken'
  | 'swap'
  | 'api_id_taken'
  | 'client_id_taken'
  | 'key_taken'
  | 'in_use'
  | 'definition_refused'

/** Something that is wrong with an object, or in its way. */
export interface MoveFlaw {
  readonly name: MoveFlawName
  readonly path: Path
  readonly why: string
}

/** A warning about an object that is taken. */
export interface MoveWarning {
  readonly path: Path
  readonly why: string
}

/** An object as a dashboard has it. */
export interface RemoteObject {
  readonly identity: string
  /** As files have it, secrets in clear where they could be read. */
  readonly body: JsonObject
  /** Its path at the dashboard. */
  readonly at: string
}

/** The dashboard that is read or written, and what is known of it. */
export interface TargetDashboard {
  readonly api: DashboardApi
  readonly orgId: string
  /** True = read with secrets. */
  readonly withSecrets: boolean
  /** Webhooks by id, read when first needed. */
  readonly hooks: { names?: Promise<ReadonlyMap<string, string>> }
}

/** A value that must be unique within an organisation, and its name in the message when another object has it. */
export interface Claim {
  readonly what: string
  readonly flaw: 'listen_path_taken' | 'name_taken'
  readonly path: Path
}

/** A reference to another object: what must be there when this one is. */
export interface ObjectReference {
  readonly to: 'apis' | 'policies' | 'labels' | 'hooks' | 'documentation'
  readonly id: string
  readonly path: Path
  /** Labels: the value that is applied. */
  readonly value?: string
}

/** How one sort of objects is moved. */
export interface MoveKind {
  readonly name: string
  readonly choice: Choice
  /** The noun for one of them. */
  readonly one: string
  readonly folder: string
  /** Member that holds the identity: the same in every installation. */
  readonly identityAt: string
  /** Where a part of another member tells objects apart that have one value there; absent = the text there is the identity. */
  readonly identityOf?: (body: JsonObject) => string
  /** Members that come first in files. */
  readonly head: readonly string[]
  /** Members that hold a secret as a whole; a file without them says nothing about it. */
  readonly own?: readonly string[]
  /** False: there is always one of each, and none is ever deleted. */
  readonly deletable: boolean
  /** The content in the form of files. May be handed anything. */
  normal(body: JsonObject): JsonObject
  secrets(body: JsonObject): readonly Path[]
  /** Everything that is wrong with a body by itself. */
  flaws(body: JsonObject): MoveFlaw[]
  /** Members of a body that are taken without effect, and choices that are weaker than the usual ones. */
  readonly warnings?: (body: JsonObject) => readonly MoveWarning[]
  references(body: JsonObject): readonly ObjectReference[]
  claims(body: JsonObject): readonly Claim[]
  /** True when two objects with the same claim can exist at once. Absent = they cannot. */
  readonly canCoexist?: (one: JsonObject, other: JsonObject) => boolean
  list(place: TargetDashboard): Promise<RemoteObject[]>
  /** True where `find` needs the identity alone, so that it notices an object that was created since the plan. */
  readonly findsNew: boolean
  /** One object as it is now. */
  find(place: TargetDashboard, there: Pick<RemoteObject, 'identity' | 'at'>): Promise<RemoteObject | undefined>
  create(place: TargetDashboard, body: JsonObject): Promise<void>
  update(place: TargetDashboard, there: RemoteObject, body: JsonObject): Promise<void>
  remove(place: TargetDashboard, there: RemoteObject): Promise<void>
}

/**
 * The errors that a check of the product reports in one message, each by its path in `document`; `under` is the path of the document in
 * the file.
 */
export function flawsThrown(check: () => unknown, document: Json, under: Path = []): MoveFlaw[] {
  try {
    check()
    return []
  } catch (error) {
    const { code, message } = toFault(error)
    if (code === 'internal') throw error
    return partsOf(message).map((part) => {
      const [, words = '', why = part] = /^((?:[^\s:[]|\[(?:\d+|"(?:[^"\\]|\\.)*")\])+): (.*)$/s.exec(part) ?? []
      return { name: 'field_invalid', path: [...under, ...pathOfWords(words, document)], why }
    })
  }
}

/** The reasons in a message; one that holds a semicolon itself stays whole. */
function partsOf(message: string): string[] {
  const parts: string[] = []
  for (const part of message.split('; ')) {
    const begins = parts.length === 0 || /^(?:[^\s:[]|\[(?:\d+|"(?:[^"\\]|\\.)*")\])+: /.test(part)
    if (begins) parts.push(part)
    else parts[parts.length - 1] += `; ${part}`
  }
  return parts
}

/** The texts of a member that should be a list of texts. */
export function textsAt(body: JsonObject, name: string): string[] {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
}

/** The text of a member; '' when it is none. */
export function textAt(body: JsonObject, name: string): string {
  const value = body[name]
  return typeof value === 'string' ? value : ''
}

/** The identity of an object in the form of files; '' = it has none. */
export function identityOf(kind: MoveKind, body: JsonObject): string {
  return kind.identityOf?.(body) ?? textAt(body, kind.identityAt)
}
