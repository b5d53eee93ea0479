import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { fault, toFault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { Log } from '../../model/logs/log.ts'
import { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { ApiCatalogue } from './catalogue.ts'
import { type ReadingRules, readDefinition } from './definition-text.ts'

interface FileParts extends ReadingRules {
  /** Folder with one definition per `.json`, `.yaml` or `.yml` file. */
  readonly folder: string
  readonly catalogue: ApiCatalogue
  /** Called after the catalogue was changed. */
  readonly changed: () => void
  readonly defaultOrg: () => string
  readonly log: Log
}

/** The folder of definition files that the settings name; undefined where they name none. */
export function definitionFiles(
  { config: { gateway, compat }, defaultOrg, log }: Pick<FileParts, 'defaultOrg' | 'log'> & { readonly config: Config },
  { catalogue, live }: Pick<FileParts, 'catalogue'> & { readonly live: { refresh(): void } },
  yamlToJson: ReadingRules['yamlToJson'],
): FileDefinitions | undefined {
  if (gateway.app_path === '') return undefined
  const rules = { words: ownWords(compat.vendor_aliases), matching: compat.path_matching, yamlToJson }
  const changed = () => live.refresh()
  return new FileDefinitions({ ...rules, folder: gateway.app_path, catalogue, changed, defaultOrg, log })
}

const MAX_FILE_BYTES = 16 << 20
const SETTLE_MS = 100

/**
 * Loads API definitions from a folder and follows it. A file that cannot be read is named in the log and stops nothing else;
 * the API that it held before stays in service until the file is gone or mended.
 */
class FileDefinitions {
  readonly #parts: FileParts
  readonly #seen = new Map<string, string>()
  /** The last readable content of each file. */
  readonly #documents = new Map<string, ApiDocument>()
  #watcher: FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #looks = new KeyedMutex()
  #closed = false

  constructor(parts: FileParts) {
    this.#parts = parts
  }

  /** Reads the folder and begins to follow it. @throws Fault `setting_invalid` when it is no folder that can be read */
  async start(): Promise<void> {
    const { folder } = this.#parts
    try {
      if (!statSync(folder).isDirectory()) throw new Error('not a folder')
      await this.scan()
      this.#watcher = watch(folder, () => this.#soon())
    } catch (error) {
      throw fault('setting_invalid', `gateway.app_path (SVC_GW_APPPATH) ${folder}: ${toFault(error).message}`, error)
    }
    this.#watcher.on('error', (error) =>
      this.#parts.log.error({ folder }, `stopped watching the folder: ${error.message}`),
    )
  }

  /** The definitions in the folder, by the names of their files. */
  documents(): ApiDocument[] {
    return [...this.#documents].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, document]) => document)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#watcher?.close()
  }

  /** Editors write in several steps: look once they have settled. */
  #soon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.scan().catch((error) =>
        this.#parts.log.error({ folder: this.#parts.folder }, `cannot read the folder: ${toFault(error).message}`),
      )
    }, SETTLE_MS).unref()
  }

  /** Takes over what differs from the last look; traffic is served meanwhile. One look at a time. */
  scan(): Promise<void> {
    return this.#looks.run('scan', () => this.#scan())
  }

  async #scan(): Promise<void> {
    const { folder, catalogue } = this.#parts
    const names = readdirSync(folder)
      .filter((name) => /\.(json|ya?ml)$/i.test(name))
      .sort()
    let changes = 0
    for (const name of names) if (!this.#closed && (await this.#take(name))) changes++
    if (this.#closed) return
    for (const name of [...this.#seen.keys()]) {
      if (names.includes(name)) continue
      this.#seen.delete(name)
      this.#documents.delete(name)
      catalogue.remove(`file:${name}`)
      this.#parts.log.info({ file: name }, 'definition file removed, its API is no longer served')
      changes++
    }
    if (changes > 0) this.#parts.changed()
  }

  async #take(name: string): Promise<boolean> {
    const path = join(this.#parts.folder, name)
    let stamp = ''
    try {
      const found = statSync(path)
      stamp = `${found.ino} ${found.size} ${found.mtimeMs}`
      if (this.#seen.get(name) === stamp) return false
      this.#seen.set(name, stamp)
      // Reading a pipe would wait for its writer, and all traffic with it.
      if (!found.isFile()) throw fault('definition_invalid', 'not a file')
      if (found.size > MAX_FILE_BYTES) throw fault('definition_invalid', `larger than ${MAX_FILE_BYTES} bytes`)
      const document = await readDefinition(name, readFileSync(path, 'utf8'), {
        orgId: this.#parts.defaultOrg(),
        words: this.#parts.words,
        matching: this.#parts.matching,
        yamlToJson: this.#parts.yamlToJson,
      })
      const { catalogue } = this.#parts
      const read = await inTurns(catalogue.reading({ source: `file:${name}`, document, revision: 0, since: '' }))
      if (this.#closed) return false
      this.#documents.set(name, document)
      const { state, reason } = catalogue.take(read)
      if (reason !== '')
        this.#parts.log.warn({ file: name, state }, `definition file is not served as written: ${reason}`)
      else this.#parts.log.info({ file: name, api_id: document.api_id, state }, 'definition file loaded')
      return true
    } catch (error) {
      const { code, message } = toFault(error)
      this.#refuse(name, stamp, message)
      // That says nothing of the file: the next look tries it again.
      if (code === 'busy') this.#seen.delete(name)
      return false
    }
  }

  /** Says once what is wrong with a file; the definition that it held before stays in service. */
  #refuse(name: string, stamp: string, detail: string): void {
    if (stamp === '' && this.#seen.get(name) === detail) return
    if (stamp === '') this.#seen.set(name, detail)
    const reason = detail.startsWith(`${name}: `) ? detail : `${name}: ${detail}`
    this.#parts.catalogue.refuse(`file:${name}`, name, reason)
    this.#parts.log.warn({ file: name }, `definition file is not served: ${reason}`)
  }
}
