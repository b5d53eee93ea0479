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
import type { ApiState } from '../apis/snapshot.ts'

export interface NodeStatusParts {
  /** Stores a status; answers the instance whose status it replaced. */
  readonly write: (status: NodeStatus) => Promise<string>
  readonly about: Pick<NodeStatus, 'name' | 'hostname' | 'version' | 'segmented' | 'tags' | 'management' | 'port'>
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
 * and every 30 seconds when nothing changes. One write at a time; a failed write is repaired by the next.
 */
export class NodeReporter {
  readonly #parts: NodeStatusParts
  readonly #startedAt: string
  readonly #instance = newSecret().slice(0, 12)
  /** The instance with this name before the first report; undefined until then. */
  #before: string | undefined
  /** Runs out when the next word may be said (`resting`), else when it must be. */
  #timer: NodeJS.Timeout | undefined
  #resting = false
  #writing: Promise<void> | undefined
  #changed = false
  #closed = false

  constructor(parts: NodeStatusParts) {
    this.#parts = parts
    this.#startedAt = new Date(parts.clock.wall()).toISOString()
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
    clearTimeout(this.#timer)
    await this.#writing
    await this.#try(false)
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#resting = true
    this.#changed = false
    this.#writing = this.#try(true).then(() => {
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
      const stood = await this.#parts.write(this.#status(up))
      this.#before ??= stood
      if (stood !== this.#instance && stood !== this.#before) this.#shared()
    } catch (error) {
      this.#parts.log.debug({ cause: error }, 'cannot store the status of this node')
    }
  }

  /** Our status was overwritten by a node that is no predecessor. */
  #shared(): void {
    const { about, log } = this.#parts
    log.error(
      { node: about.name },
      'another gateway has the same name: set gateway.node_name, or the dashboard shows one of them',
    )
  }

  #status(up: boolean): NodeStatus {
    const { about, clock, look } = this.#parts
    const { states, revision, behind, load } = look()
    const troubled = states.filter(isTrouble)
    return {
      ...about,
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
