import { flag, group, whole } from './leaves.ts'

/** `gateway.monitor`: the shares of a quota that raise the event `TriggerExceeded`. */
export const monitorSettings = group({
  enable_trigger_monitors: flag(true, 'Tell of quotas that are used up to a share, where an API has somebody to tell.'),
  global_trigger_limit: whole(0, [0, 100], 'A share, in percent, that is told of for every quota. 0: none.'),
  monitor_user_keys: flag(true, 'Hold that share against quotas of keys and tokens.'),
  monitor_org_keys: flag(true, 'Hold that share against quotas of organisations.'),
})
