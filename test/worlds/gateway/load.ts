import { Agent, request } from 'node:http'

/** One answer under load. */
export interface LoadAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Steady requests over several kept connections until stopped. */
export interface Load {
  /** Requests answered so far. */
  readonly answered: number
  /** Connections opened so far; with kept connections no more than there are clients. */
  readonly opened: number
  /** Ends after the requests in flight. @throws the first error of a request, or of `check` */
  stop(): Promise<void>
}

/** Starts `clients` that each send one request after the other over a separate connection. `check` sees every response. */
export function startLoad(
  port: number,
  clients: number,
  next: (count: number) => { path: string; headers?: Record<string, string> },
  check: (answer: LoadAnswer) => void,
): Load {
  const state = { answered: 0, opened: 0, stopping: false }
  let failure: unknown
  const run = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      while (!state.stopping && failure === undefined) {
        const answer = await ask(agent, port, next(state.answered), () => state.opened++)
        state.answered++
        check(answer)
      }
    } catch (error) {
      failure ??= error
    } finally {
      agent.destroy()
    }
  }
  const running = Array.from({ length: clients }, run)
  return {
    get answered() {
      return state.answered
    },
    get opened() {
      return state.opened
    },
    async stop() {
      state.stopping = true
      await Promise.all(running)
      if (failure !== undefined) throw failure
    },
  }
}

function ask(
  agent: Agent,
  port: number,
  { path, headers = {} }: { path: string; headers?: Record<string, string> },
  opened: () => void,
): Promise<LoadAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('socket', (socket) => {
      if (socket.connecting) opened()
    })
    sent.on('error', reject)
    sent.end()
  })
}
