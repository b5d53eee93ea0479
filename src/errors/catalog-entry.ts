/** How loudly the log speaks of a fault. `silent` ones are ordinary answers to ordinary requests. */
export type LogLevel = 'silent' | 'debug' | 'warn' | 'error'

export interface CatalogEntry {
  /** HTTP status of the answer. */
  readonly status: number
  /** Status under `compat.legacy_statuses`, where the incumbent's differs. */
  readonly legacy?: number
  readonly log: LogLevel
  /** The text for the caller. Never holds a secret; the `detail` of a fault goes to the log, or to callers who may see it. */
  readonly text: string
  /** True when `detail` may be shown to the caller: it contains only what the caller sent. `alone`: instead of the text. */
  readonly expose?: boolean | 'alone'
  /** `error` of the authorization server's answer (RFC 6749 section 5.2 and its siblings), or of a `WWW-Authenticate` challenge. */
  readonly oauth?: string
  /** The same under `compat.legacy_statuses`, where the incumbent's differs. */
  readonly legacyOauth?: string
  /** True when answers carry the code in `X-Error-Code`: callers act on it, and statuses and texts do not tell it apart. */
  readonly coded?: true
  /** Status and text of the dashboard, where they differ; its text is used without the detail. */
  readonly dashboard?: { readonly status?: number; readonly text?: string }
}

/** The usual cause of each error and what to do, for people. */
export type ErrorCauses<Code extends string> = Readonly<Record<Code, readonly [cause: string, cure: string]>>
