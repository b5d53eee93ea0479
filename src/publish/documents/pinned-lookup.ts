import { lookup as lookUp } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { type NetworkRule, refusePrivate } from '../../model/webhooks/hook.ts'

export interface PinnedOptions extends NetworkRule {
  /** Answers the addresses of a name; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
}

/**
 * How a connection finds its address: those that are checked here are the ones that are connected to, nobody resolves the name
 * again. It fails with the Fault `webhook_target_refused` when no address may be reached.
 */
export function pinnedLookup({ resolve = systemAddresses, ...rule }: PinnedOptions): LookupFunction {
  return (host, options, done) => {
    resolve(host)
      .then((addresses) => refusePrivate(addresses, rule))
      .then(
        (open) => {
          const all = open.map((address) => ({ address, family: isIP(address) }))
          if (options.all === true) done(null, all)
          else done(null, all[0]!.address, all[0]!.family)
        },
        (error) => done(error, []),
      )
  }
}

async function systemAddresses(host: string): Promise<string[]> {
  return (await lookUp(host, { all: true })).map(({ address }) => address)
}
