import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

// A network that is not to be relied on, between two parts of a cluster. A TCP stream that carried bytes twice would be broken, and no
// network does that to one: duplicates come from a caller that repeats a request whose response was lost. So `loseAnswers` simulates
// what duplicated packets are below TCP.

export interface LossyNetwork {
  readonly port: number
  /** Each piece of bytes is held up for a random time up to this, either way; order is kept. */
  delayMs: number
  /** The part of the answers, 0 to 1, in place of which the connection is cut: what was asked was done. */
  loseAnswers: number
  /** Resets every connection that is there; new ones work. Answers how many they were. */
  cut(): number
  /** Every present connection swallows what is sent from now on, silently; new ones work. */
  silence(): void
  /** Nothing passes, and new connections wait, until the function that it answers is called: then what was held back arrives. */
  hold(): () => void
}

interface Line {
  readonly ends: readonly [Socket, Socket]
  silent: boolean
}

/** Starts one that leads to `target`, and ends with the test. */
export async function startLossyNetwork(t: TestContext, target: NetConnectOpts): Promise<LossyNetwork> {
  const lines = new Set<Line>()
  /** Resolves when bytes may pass. */
  let open: Promise<void> = Promise.resolve()
  const carry = async (line: Line, from: Socket, to: Socket, isAnswer: boolean) => {
    for await (const bytes of from as AsyncIterable<Buffer>) {
      if (network.delayMs > 0) await wait(Math.random() * network.delayMs)
      await open
      if (line.silent) continue
      if (isAnswer && Math.random() < network.loseAnswers) return end(line)
      if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')])
    }
    to.end()
  }
  const end = (line: Line) => {
    lines.delete(line)
    const [client, far] = line.ends
    client.resetAndDestroy()
    far.destroy()
  }
  const server = createServer({ noDelay: true }, async (client) => {
    client.on('error', () => {})
    await open
    const far = connect({ ...target, noDelay: true } as NetConnectOpts)
    const line: Line = { ends: [client, far], silent: false }
    lines.add(line)
    for (const socket of line.ends) socket.on('error', () => end(line)).on('close', () => lines.delete(line))
    await Promise.allSettled([carry(line, client, far, false), carry(line, far, client, true)])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const network: LossyNetwork = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    loseAnswers: 0,
    cut() {
      const cut = [...lines]
      for (const line of cut) end(line)
      return cut.length
    },
    silence() {
      for (const line of lines) line.silent = true
    },
    hold() {
      let release = () => {}
      open = new Promise((resolve) => {
        release = resolve
      })
      return () => release()
    },
  }
  t.after(() => {
    network.cut()
    server.close()
  })
  return network
}
