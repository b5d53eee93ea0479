import { flag, group, whole } from './leaves.ts'

/** `gateway.monitor`: the shares of a quota that raise the event `TriggerExceeded`. */
export const monitorSettings = group({
  enable_trigger_monitors: flag(
    true,
    'Raise the event `TriggerExceeded` when a share of a quota is used, for APIs with handlers.',
  ),
  global_trigger_limit: whole(0, [0, 100], 'Share in percent that raises the event for every quota. 0: none.'),
  monitor_user_keys: flag(true, 'Hold that share against quotas of keys and tokens.'),
  monitor_org_keys: flag(true, 'Hold that share against quotas of organisations.'),
})
