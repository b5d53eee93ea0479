/** A server that goes with the process that started it. */
export interface ThrowAwayServer {
  /** Its own folder, deleted at the end. */
  readonly folder: string
  /** Ends it with a signal; its data stay. */
  halt(signal: NodeJS.Signals): Promise<unknown>
  /** Starts it again on the same data. */
  resume(): Promise<unknown>
  /** Ends it for good. */
  stop(): Promise<void>
}

export interface ServerSpec {
  readonly folder: string
  /** Programs that make its data, run one after the other. */
  readonly before?: readonly (readonly string[])[]
  readonly run: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Its line when it is ready: the text of a regular expression. */
  readonly ready: string
  /** Signal that ends it. */
  readonly end?: NodeJS.Signals
  /** True for servers that refuse to run as root. */
  readonly asNobody?: boolean
}

export interface ThrowAwayPostgres extends ThrowAwayServer {
  /** Address of a database, `postgres` by default. */
  url(database?: string): string
  /** Path of its socket. */
  readonly socket: string
}

export function startServer(spec: ServerSpec): Promise<ThrowAwayServer>
export function startPostgres(options?: {
  version?: number
  durable?: boolean
  password?: string
  standbyOf?: ThrowAwayPostgres
}): Promise<ThrowAwayPostgres>
