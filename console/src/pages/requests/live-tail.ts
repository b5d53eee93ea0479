import { useCallback, useEffect, useRef, useState } from 'react'
import { listRequests, liveAddress, type RequestFilters, type RequestRecord } from '../../api/traffic/requests.ts'
import type { Row } from './request-search.ts'

/** Rows that the page holds; older ones are left out, and counted. */
export const MOST_ROWS = 500
const DRAW_MS = 250
const ASK_DROPPED_MS = 10_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

export interface Tail {
  readonly state: 'connecting' | 'open' | 'lost'
  /** The newest first. */
  readonly rows: readonly Row[]
  /** All that came since the list was begun. */
  readonly came: number
  /** Those that came since it was paused. */
  readonly waiting: number
  /** Requests that the gateway did not record. */
  readonly dropped: number
  clear(): void
}

interface Held {
  readonly rows: readonly Row[]
  readonly came: number
}

const NOTHING: Held = { rows: [], came: 0 }

/** Follows requests as they come. What comes while `isPaused` is held back, no more than the list holds. */
export function useTail(filters: RequestFilters, isPaused: boolean): Tail {
  const [state, setState] = useState<Tail['state']>('connecting')
  const [shown, setShown] = useState<Held>(NOTHING)
  const [waiting, setWaiting] = useState(0)
  const [dropped, setDropped] = useState(0)
  const held = useRef<Held>(NOTHING)
  const paused = useRef(isPaused)
  paused.current = isPaused

  useEffect(() => {
    held.current = NOTHING
    setShown(NOTHING)
    return follow(liveAddress(filters), {
      state: setState,
      record({ id, record }) {
        const { rows, came } = held.current
        held.current = { rows: [{ name: id, record }, ...rows].slice(0, MOST_ROWS), came: came + 1 }
      },
    })
  }, [filters])

  useEffect(() => {
    const timer = setInterval(() => {
      if (!paused.current) setShown(held.current)
      setShown((now) => {
        setWaiting(held.current.came - now.came)
        return now
      })
    }, DRAW_MS)
    return () => clearInterval(timer)
  }, [])

  useEffect(() => {
    const fromMs = Date.now()
    setDropped(0)
    const leaving = new AbortController()
    const ask = async () => {
      if (document.hidden) return
      const answer = await listRequests({ fromMs, toMs: Date.now() }, filters, 1, leaving.signal, 1).catch(
        () => undefined,
      )
      if (answer !== undefined) setDropped(answer.dropped)
    }
    const timer = setInterval(() => void ask(), ASK_DROPPED_MS)
    return () => {
      clearInterval(timer)
      leaving.abort()
    }
  }, [filters])

  const clear = useCallback(() => {
    held.current = NOTHING
    setShown(NOTHING)
  }, [])
  return { state, rows: shown.rows, came: shown.came, waiting, dropped, clear }
}

interface Listener {
  readonly state: (state: Tail['state']) => void
  readonly record: (event: { readonly id: string; readonly record: RequestRecord }) => void
}

/**
 * Opens the stream and reopens it when it ends. A browser reconnects after a lost connection, but not after a refusal:
 * then it is retried, after a second at first, then with growing delays. Returns the function that ends it.
 */
function follow(address: string, listener: Listener): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = FIRST_RETRY_MS
  const open = () => {
    listener.state('connecting')
    const opened = new EventSource(address)
    source = opened
    opened.addEventListener('open', () => {
      waitMs = FIRST_RETRY_MS
      listener.state('open')
    })
    opened.addEventListener('record', ({ data, lastEventId }: MessageEvent<string>) => {
      listener.record({ id: lastEventId, record: JSON.parse(data) as RequestRecord })
    })
    opened.addEventListener('error', () => {
      listener.state('lost')
      if (opened.readyState !== EventSource.CLOSED) return
      timer = setTimeout(open, waitMs)
      waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)
    })
  }
  open()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}
