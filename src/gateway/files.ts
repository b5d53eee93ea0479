import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { fault, toFault } from '../errors/fault.ts'
import { fillIds } from '../model/api/fill-ids.ts'
import type { ApiDocument } from '../model/api.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { Log } from '../model/log.ts'
import type { ApiCatalogue } from './catalogue.ts'

export interface FileParts {
  /** Folder with one definition per `.json`, `.yaml` or `.yml` file. */
  readonly folder: string
  readonly catalogue: ApiCatalogue
  /** Called after the catalogue was changed. */
  readonly changed: () => void
  readonly defaultOrg: () => string
  readonly log: Log
}

const MAX_FILE_BYTES = 8 << 20
const SETTLE_MS = 100

/**
 * Loads API definitions from a folder and follows it. A file that cannot be read is named in the log and stops nothing else;
 * the API that it held before stays in service until the file is gone or mended.
 */
export class FileDefinitions {
  readonly #parts: FileParts
  readonly #seen = new Map<string, string>()
  #watcher: FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: FileParts) {
    this.#parts = parts
  }

  /** Reads the folder and begins to follow it. @throws Fault `setting_invalid` when it is no folder that can be read */
  start(): void {
    const { folder } = this.#parts
    try {
      if (!statSync(folder).isDirectory()) throw new Error('not a folder')
      this.scan()
      this.#watcher = watch(folder, () => this.#soon())
    } catch (error) {
      throw fault('setting_invalid', `gateway.app_path (SVC_GW_APPPATH) ${folder}: ${toFault(error).message}`, error)
    }
    this.#watcher.on('error', (error) =>
      this.#parts.log.error({ folder }, `the folder is followed no longer: ${error.message}`),
    )
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#watcher?.close()
  }

  /** Editors write in several steps: look once they have settled. */
  #soon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      try {
        this.scan()
      } catch (error) {
        this.#parts.log.error({ folder: this.#parts.folder }, `the folder cannot be read: ${toFault(error).message}`)
      }
    }, SETTLE_MS).unref()
  }

  /** Takes over what differs from the last look. */
  scan(): void {
    const { folder, catalogue } = this.#parts
    const names = readdirSync(folder)
      .filter((name) => /\.(json|ya?ml)$/i.test(name))
      .sort()
    let changes = 0
    for (const name of names) if (this.#take(name)) changes++
    for (const name of [...this.#seen.keys()]) {
      if (names.includes(name)) continue
      this.#seen.delete(name)
      catalogue.remove(`file:${name}`)
      this.#parts.log.info({ file: name }, 'definition file is gone; its API is served no longer')
      changes++
    }
    if (changes > 0) this.#parts.changed()
  }

  #take(name: string): boolean {
    const path = join(this.#parts.folder, name)
    try {
      const { size, mtimeMs } = statSync(path)
      const stamp = `${size} ${mtimeMs}`
      if (this.#seen.get(name) === stamp) return false
      this.#seen.set(name, stamp)
      if (size > MAX_FILE_BYTES) throw fault('definition_invalid', `larger than ${MAX_FILE_BYTES} bytes`)
      const document = readDefinition(name, readFileSync(path, 'utf8'), this.#parts.defaultOrg())
      const { state, reason } = this.#parts.catalogue.put(`file:${name}`, document, 0)
      if (reason !== '')
        this.#parts.log.warn({ file: name, state }, `definition file is not served as written: ${reason}`)
      else this.#parts.log.info({ file: name, api_id: document.api_id, state }, 'definition file taken over')
      return true
    } catch (error) {
      this.#parts.log.warn({ file: name }, `definition file is not served: ${toFault(error).message}`)
      return false
    }
  }
}

/**
 * Reads one definition, JSON or YAML, classic or OpenAPI. Without an id of its own it is known by its file name.
 * @throws Fault `definition_invalid` with the line where the text cannot be parsed
 */
export function readDefinition(fileName: string, text: string, orgId: string): ApiDocument {
  let definition: unknown
  try {
    // JSON is YAML too, but its own parser is stricter and names the position.
    definition = /\.json$/i.test(fileName) ? JSON.parse(text) : parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw fault('definition_invalid', `${fileName}: ${toFault(error).message}`, error)
  }
  if (!isObject(definition)) throw fault('definition_invalid', `${fileName}: not an object`)
  const format = 'openapi' in definition ? 'oas' : 'classic'
  const filled = fillIds(format, withId(format, definition, fileName), { orgId })
  return { ...filled, format }
}

/** A file keeps its API id over restarts even if it does not name one. */
function withId(format: 'oas' | 'classic', definition: JsonObject, fileName: string): JsonObject {
  const id = fileName.replace(/\.[^.]+$/, '')
  if (format === 'classic')
    return typeof definition.api_id === 'string' && definition.api_id !== ''
      ? definition
      : { ...definition, api_id: id }
  const extension = definition['x-svc-api-gateway']
  if (!isObject(extension)) return definition
  const info = isObject(extension.info) ? extension.info : {}
  if (typeof info.id === 'string' && info.id !== '') return definition
  return { ...definition, 'x-svc-api-gateway': { ...extension, info: { ...info, id } } }
}
