import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { explainSettings } from './config/explain.ts'
import type { LoadedConfig } from './config/load.ts'
import { productVersion } from './config/version.ts'
import { keepDashboard } from './dashboard-host.ts'
import { followDefaultOrg } from './default-org.ts'
import { Fault, fault } from './errors/fault.ts'
import { firstStart, setUpLink } from './first-start.ts'
import { type Gateway, startGateway } from './gateway/gateway.ts'
import type { KeptThread } from './keep-thread.ts'
import { makeLog, openLineSink } from './log.ts'
import { systemClock } from './model/clock.ts'
import { secretBytes } from './model/secret.ts'
import { readPasswordRules } from './publish/password-file.ts'
import { type EchoUpstream, openSample } from './sample.ts'
import { openSecrets } from './store/secretFile.ts'
import { openStore } from './store/sqlite/open.ts'

/** A running installation in one process. */
export interface Running {
  readonly gateway: Gateway
  readonly dashboardPort: number
  /** Lines for the person who started it. */
  readonly greeting: readonly string[]
  /** Ends everything in order: traffic, dashboard, store. */
  stop(): Promise<void>
}

/**
 * Starts the all-in-one: store, gateway, dashboard, and the sample upstream where it is wanted. The only place that picks adapters.
 * @throws Fault that says which setting to change: `port_in_use`, `data_folder_unwritable`, `data_folder_locked`, `setting_invalid`
 */
export async function startAll(loaded: LoadedConfig): Promise<Running> {
  const { config, warnings } = loaded
  const log = makeLog({ level: config.log.level, destination: 'stdout' })
  for (const warning of warnings) log.warn({}, warning)
  const path = resolve(config.storage.path)
  const closers: (() => Promise<unknown> | unknown)[] = [() => log.close()]
  const stop = async () => {
    // What was opened last is closed first.
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const store = await openStore({ path, log })
    closers.push(() => store.close())
    const secrets = openSecrets(path)
    const secret = config.gateway.secret === '' ? secrets.gateway_secret : config.gateway.secret
    const nodeName = config.gateway.node_name === '' ? hostname() : config.gateway.node_name
    const version = productVersion()

    const sealKey = secretBytes(secrets.seal_key)
    const { documents, counters, tokens } = store
    const people = { documents, counters, tokens, config, sealKey, defaultOrg: () => '' }
    const userPasswordRules = readPasswordRules(join(config.dashboard.home_dir || path, 'schemas', 'password.json'))
    const setUpToken = await firstStart({ ...people, userPasswordRules }, config.bootstrap, log)
    const defaultOrg = await followDefaultOrg(store.documents, store.feed)
    closers.push(() => defaultOrg.close())
    const serving: { gateway?: Gateway } = {}
    const dashboard = await keepDashboard({
      ...{ config, store, sealKey, version, log, path },
      settings: explainSettings(loaded),
      adminSecret: config.dashboard.admin_secret === '' ? secrets.admin_secret : config.dashboard.admin_secret,
      settled: async (revision) => serving.gateway?.live.settled(revision),
      tryRequest: async (trial) => {
        if (serving.gateway === undefined) throw fault('gateway_away')
        return serving.gateway.tryRequest(trial)
      },
    })
    closers.push(() => dashboard.stop())

    const echo = config.sample
      ? await openSample({ documents: store.documents, counters: store.counters, config, defaultOrg: defaultOrg.id })
      : undefined
    if (echo !== undefined) closers.push(() => echo.close())

    const sink = config.gateway.access_log ? openLineSink('stdout') : undefined
    if (sink !== undefined) closers.push(() => sink.close())
    const gateway = await startGateway({
      config,
      store,
      clock: systemClock,
      log,
      accessLog: sink,
      version,
      nodeName,
      secret,
      sealKey,
      passwordRules: readPasswordRules(join(config.dashboard.home_dir || path, 'schemas', 'basic_auth.json')),
      defaultOrg: defaultOrg.id,
      dashboard: () => (dashboard.up() ? 'pass' : 'fail'),
    })
    closers.push(() => gateway.stop())
    serving.gateway = gateway
    return {
      gateway,
      dashboardPort: dashboard.port,
      greeting: [
        ...greet(gateway, dashboard, echo, path, config.gateway.secret === ''),
        ...greetNewcomer(config.dashboard.public_url || `http://127.0.0.1:${dashboard.port}`, setUpToken),
      ],
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function greet(
  gateway: Gateway,
  dashboard: KeptThread,
  echo: EchoUpstream | undefined,
  path: string,
  made: boolean,
): string[] {
  const url = `http://127.0.0.1:${gateway.port}`
  const secretAt = made ? `"gateway_secret" in ${join(path, 'secrets.json')}` : 'as set by gateway.secret'
  return [
    `gateway    ${url}`,
    `dashboard  http://127.0.0.1:${dashboard.port}`,
    `data       ${path}`,
    `secret     ${secretAt} (for X-Svc-Authorization)`,
    ...(gateway.controlPort === undefined ? [] : [`control    http://127.0.0.1:${gateway.controlPort}`]),
    ...(gateway.tlsPort === undefined ? [] : [`tls        https://127.0.0.1:${gateway.tlsPort}`]),
    ...(echo === undefined
      ? []
      : ['', 'Try it:', `  curl ${url}/sample/hello`, `  curl -i ${url}/protected/hello   # asks for a key: 401`]),
  ]
}

/** Who opens the link makes the first organisation and its administrator; it is good until then. */
function greetNewcomer(dashboard: string, token: string): string[] {
  return token === '' ? [] : ['', 'Set up, once, in a browser:', `  ${setUpLink(dashboard, token)}`]
}

/** True for a refusal that a person can mend by a setting, so that no stack is worth showing. */
export function isPlain(error: unknown): boolean {
  return error instanceof Fault && error.code !== 'internal'
}
