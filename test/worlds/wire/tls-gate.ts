import assert from 'node:assert/strict'
import { type ConnectionOptions, createSecureContext, type TLSSocket } from 'node:tls'
import { loadConfig } from '../../../src/config/load.ts'
import { tlsOptions } from '../../../src/runtime/key-pair-files.ts'
import type { TlsChoice } from '../../../src/wire/listen/listen.ts'
import { type Certificate, makeCertificate } from './certificates.ts'
import type { Gate } from './gate.ts'
import { Client, get, statusOf } from './raw.ts'

export const PLAIN = makeCertificate('plain.example')
export const MUTUAL = makeCertificate('mutual.example')
export const CALLER = makeCertificate('caller')

const RULES = loadConfig({ env: {}, cwd: import.meta.dirname }).config.gateway.tls
const BARE = {
  plain: createSecureContext(tlsOptions(RULES, { tickets: true })),
  asking: createSecureContext(tlsOptions(RULES, { tickets: false })),
}

/** The handling of a handshake with a certificate, as the gateway does it; `named` false: of clients that name no server. */
export function choiceOf(
  { cert, key }: Pick<Certificate, 'cert' | 'key'>,
  { ask = false, named = true }: { readonly ask?: boolean; readonly named?: boolean } = {},
): TlsChoice {
  const context = createSecureContext({ ...tlsOptions(RULES, { tickets: !ask }), cert, key })
  const bare = ask ? BARE.asking : BARE.plain
  return { begin: named ? bare : context, context, askCertificate: ask }
}

const CHOICES: ReadonlyMap<string, TlsChoice> = new Map([
  ['', choiceOf(PLAIN, { named: false })],
  ['plain.example', choiceOf(PLAIN)],
  ['mutual.example', choiceOf(MUTUAL, { ask: true })],
])

/** One domain without and one with client certificates; no name means the first. */
export const choose = (name: string) => CHOICES.get(name)

/** The options of a client's request, with its certificate. Trusts anybody: the tests compare fingerprints. */
export function to(servername: string, more: ConnectionOptions = {}): ConnectionOptions {
  return { servername, rejectUnauthorized: false, ...more }
}

/** A client that offers a certificate wherever it is asked. */
export const AS_CALLER: ConnectionOptions = { cert: CALLER.cert, key: CALLER.key }

/** Fingerprint of the certificate that the gate showed. */
export function certificateOf(client: Client): string {
  return (client.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toLowerCase() ?? ''
}

/** One request on a new connection: which certificate was shown, and which the gate saw. */
export async function served(gate: Gate, options: ConnectionOptions): Promise<{ shown: string; seen: string }> {
  const client = await Client.connect(gate.port, options)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  const shown = certificateOf(client)
  client.destroy()
  const peer = gate.peers.at(-1)
  assert.equal(peer?.secure, true)
  return { shown, seen: peer?.certificate ?? '' }
}

/** The handshake must fail. */
export async function refusesHandshake(gate: Gate, options: ConnectionOptions): Promise<void> {
  await assert.rejects(Client.connect(gate.port, options))
}
