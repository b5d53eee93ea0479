/** Descriptions of the members that keys, policies and access rights have for limits, for readers of the API. */
export const LIMIT_TEXTS = {
  rate: 'Rate limit: requests in each `per`. 0 states none, -1 is unlimited.',
  per: 'Seconds to which `rate` refers.',
  throttle_interval:
    'Seconds after which a request over the rate limit is tried again, instead of being refused at once. 0 or -1: refused at once.',
  throttle_retry_limit: 'Attempts of `throttle_interval` before the request is refused.',
  max_query_depth: 'Depth limit of GraphQL queries. Stored and merged, not enforced.',
  quota_max: 'Quota: requests in each `quota_renewal_rate`. 0 states none, -1 is unlimited.',
  quota_renewal_rate: 'Seconds after which the quota renews, counted from its first request. 0: it never renews.',
} as const
