import type { Log } from '../../model/logs/log.ts'
import {
  MOST_TROUBLES,
  NODE_BEAT_MS,
  type NodeLoad,
  type NodeStatus,
  type NodeTrouble,
} from '../../model/nodes/node.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Feed } from '../../store/ports/ports.ts'
import type { ApiState } from '../apis/snapshot.ts'

export interface NodeStatusParts {
  /** Stores a status; answers the one of that name that it replaced. */
  readonly write: (status: NodeStatus) => Promise<NodeStatus | undefined>
  /** Where the status of a name is stored. */
  readonly idOf: (name: string) => string
  readonly feed: Feed
  readonly about: Pick<
    NodeStatus,
    'name' | 'hostname' | 'version' | 'segmented' | 'tags' | 'management' | 'port' | 'public_url'
  >
  /** The current state of the node. */
  readonly look: () => {
    readonly states: readonly ApiState[]
    readonly revision: number
    readonly behind: boolean
    readonly load: NodeLoad
  }
  readonly clock: Clock
  readonly log: Log
}

/** Changes within this time are reported together. */
const QUIET_MS = 1_000
const LONGEST_REASON = 500

/**
 * Reports the state of this node to the store, so that the dashboard can show it: at once after a change, then at most once a second,
 * and every 30 seconds when nothing changes. One write at a time; a failed write is repaired by the next. Of two running nodes of one name the
 * younger takes another.
 */
export class NodeReporter {
  readonly #parts: NodeStatusParts
  readonly #startedAt: string
  readonly #instance = newSecret().slice(0, 12)
  #name: string
  readonly #unsubscribe: () => void
  /** False until the first report: the status that it replaces may be that of a predecessor that crashed. */
  #reported = false
  /** Runs out when the next word may be said (`resting`), else when it must be. */
  #timer: NodeJS.Timeout | undefined
  #resting = false
  #writing: Promise<void> | undefined
  #changed = false
  #closed = false

  constructor(parts: NodeStatusParts) {
    this.#parts = parts
    this.#name = parts.about.name
    this.#unsubscribe = parts.feed.subscribe(({ changes }) => {
      const isOwn = changes.some(({ kind, id }) => kind === 'node' && id === parts.idOf(this.#name))
      // By another node, of the same name.
      if (isOwn && this.#writing === undefined && this.#reported) this.changed()
    })
    this.#startedAt = new Date(parts.clock.wall()).toISOString()
  }

  /** The name under which it is listed. */
  get name(): string {
    return this.#name
  }

  /** Something of the APIs of this node is different from before; the first call begins the beat. */
  changed(): void {
    if (this.#closed) return
    this.#changed = true
    if (!this.#resting) this.#write()
  }

  /** Says that it goes. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#unsubscribe()
    clearTimeout(this.#timer)
    await this.#writing
    await this.#try(false)
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#resting = true
    this.#changed = false
    this.#writing = this.#try(true).then(() => {
      this.#writing = undefined
      if (this.#closed) return
      this.#timer = setTimeout(() => this.#rested(), QUIET_MS).unref()
    })
  }

  #rested(): void {
    this.#resting = false
    if (this.#changed) this.#write()
    else this.#timer = setTimeout(() => this.#write(), NODE_BEAT_MS - QUIET_MS).unref()
  }

  async #try(up: boolean): Promise<void> {
    try {
      const status = this.#status(up)
      const replaced = await this.#parts.write(status)
      if (up && this.#reported && replaced?.up === true && replaced.instance !== this.#instance)
        this.#shared(isYounger(status, replaced))
      this.#reported = true
    } catch (error) {
      this.#parts.log.debug({ cause: error }, 'cannot store the status of this node')
    }
  }

  /** Another running node has written the status of this name since this one did. */
  #shared(isYounger: boolean): void {
    const before = this.#name
    if (isYounger) {
      this.#name = `${before}-${this.#instance.slice(0, 4)}`
      this.#reported = false
      this.#parts.log.warn(
        { node: this.#name },
        `another gateway has the same name: set gateway.node_name. "${before}" is listed as "${this.#name}"`,
      )
    }
    // The status of the older one is put back.
    this.#changed = true
  }

  #status(up: boolean): NodeStatus {
    const { about, clock, look } = this.#parts
    const { states, revision, behind, load } = look()
    const troubled = states.filter(isTrouble)
    return {
      ...{ ...about, name: this.#name },
      ...{ up, behind, revision, load },
      loaded: states.filter(({ state }) => state === 'loaded' || state === 'stale').length,
      troubled: troubled.length,
      troubles: troubled.slice(0, MOST_TROUBLES).map(({ apiId, state, reason, revision: served }) => ({
        ...{ api_id: apiId, state },
        reason: reason.slice(0, LONGEST_REASON),
        revision: state === 'stale' ? served : 0,
      })),
      instance: this.#instance,
      started_at: this.#startedAt,
      seen_at: new Date(clock.wall()).toISOString(),
    }
  }
}

function isTrouble(state: ApiState): state is ApiState & { readonly state: NodeTrouble['state'] } {
  return state.state === 'stale' || state.state === 'failed' || state.state === 'taken'
}

/** Both nodes find the same, whatever their clocks say. */
function isYounger(own: NodeStatus, other: NodeStatus): boolean {
  if (own.started_at !== other.started_at) return own.started_at > other.started_at
  return (own.instance ?? '') > (other.instance ?? '')
}
