/** Descriptions of the calls of the administration API, besides their summaries, by the id of the operation. */
export const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  listKeys:
    'With `p` it answers a page and the number of pages. With `after` it continues after the last entry of the list before. Where keys are stored as hashes, it lists the hashes.',
  createKey:
    'The body is the session: `apply_policies`, or `access_rights` with limits. The value of the key is in the answer only; the store keeps its hash. The key works when the call returns.',
  createKeyAtOlderPath: 'Use `POST /svc/keys` in new programs.',
  previewKey: 'Applies the policies as the gateway does for a request. Nothing is stored.',
  setKeyPolicies:
    'The path has the hash of the key (`key_hash`). Access rights and limits follow from the new policies at once.',
  rotateKey: 'Access rights, limits, counters and expiry carry over. The old value is refused at once.',
  getKey: 'Use `hashed=true` where you have the hash. `quota_remaining` and `quota_renews` are the present counts.',
  createCustomKey:
    'For keys that another system has made. A user of basic authentication needs `basic_auth_data.password` in the body.',
  updateKey: 'Members that are left out are removed. The quota starts again unless `suppress_reset` is true.',
  deleteKey: 'The next request with the key is refused.',
  listPolicies: 'Policies of all organisations, unless `org_id` names one.',
  createPolicy:
    'The `id` of the body is the id that keys name; without one the storage id is. A key can have several policies.',
  getPolicy: 'Both ids find the policy.',
  updatePolicy: 'Members that are left out are removed. Keys with the policy have the new limits at once.',
  deletePolicy: 'Keys that have no other policy and no access rights are refused from then on.',
  listOpenapiApis: 'With `mode=public` the documents come without the extension.',
  createOpenapiApi:
    'The body is an OpenAPI 3.0, 3.1 or 3.2 document, JSON or YAML, with `x-svc-api-gateway`. The API is live when the call returns. `warnings` names members without effect.',
  exportOpenapiApis: 'The answer is the list as a file.',
  importOpenapiApi:
    'For a document without the extension. The query sets listen path, upstream and what the document asks for.',
  getOpenapiApi: 'With `mode=public` the document comes without the extension.',
  updateOpenapiApi: 'The body is the whole document. Requests in flight end with the old one.',
  patchOpenapiApi: 'For a new version of the OpenAPI document: rules of operations that still exist are kept.',
  deleteOpenapiApi: 'Its listen path is free at once; keys and policies that name it are kept.',
  exportOpenapiApi: 'The answer is the document as a file.',
  listOpenapiApiVersions: 'The base API comes first.',
  listApis: 'For programs that know the classic format. New definitions are better written as OpenAPI documents.',
  createApi: 'The body is a classic definition, bare or as `api_definition`. The API is live when the call returns.',
  getApi: 'The answer is the bare definition, as `PUT` takes it.',
  updateApi: 'The body is the whole definition.',
  deleteApi: 'Its listen path is free at once; keys and policies that name it are kept.',
  listApiVersions: 'The base API comes first.',
  createCertificate:
    'The body is PEM: a certificate, with its chain and its private key where the gateway is to use it. Private keys are stored sealed and never returned.',
  listCertificates: 'Of one organisation with `org_id`.',
  getCertificate: 'The answer tells names, dates and whether a private key is stored; never the key.',
  deleteCertificate: 'APIs that name it are kept, and refuse or fail where they need it.',
  createOauthClient:
    'With `api_id` the client is registered at that API, else at all OAuth APIs of its policies. Id and secret are made where the body has none.',
  listApisOfOauthClient: 'The path has the client id.',
  listOauthClients: 'With `p` it answers a page and the number of pages.',
  getOauthClient: 'Treat the answer as a secret.',
  updateOauthClient: 'Members that are left out are removed, except id and secret.',
  deleteOauthClient: 'All its access and refresh tokens are revoked.',
  rotateOauthClientSecret:
    'Without `secret` a new one is made. With `overlap` the old one is accepted for so many seconds.',
  listOauthTokens: 'Tokens are listed by their hashes where the installation stores hashes.',
  revokeOauthToken: 'The very next request with the token is refused. A refresh token takes its access tokens with it.',
  revokeOauthTokens: 'Needs id and secret of the client.',
  deleteExpiredOauthTokens: 'Expired tokens are refused anyway: this frees space at once instead of in the background.',
  deleteOauthRefreshToken: 'The client has to begin its flow again.',
  listSigningKeys: 'Public keys are at `jwks_uri` of each authorization server; private keys are never returned.',
  rotateSigningKeys: 'The new key is published first, and signs once verifiers had time to read it.',
  retireSigningKey: 'For a key that may be known to others. Every token that it signed is refused at once.',
  listOrganisationLimits: 'Organisations without limits are not listed.',
  getOrganisationLimits: 'The session has rate limit and quota of the organisation, for all its keys together.',
  createOrganisationLimits:
    'Rate limit and quota apply to all requests of the organisation together. `is_inactive` blocks it.',
  updateOrganisationLimits: 'Members that are left out are removed.',
  deleteOrganisationLimits: 'The organisation is unlimited from then on.',
  listTokenNotifications: 'Those that wait for another attempt, or with `dead=true` those that were given up.',
  resendTokenNotification: 'It is sent before all others of the API.',
  reloadNode:
    'Changes are loaded by themselves; this is for tests and repairs. With `block=true` it answers when the reload is done.',
  reloadNodeGroup: 'Each node of a group loads changes by itself, so it does the same as `GET /svc/reload`.',
  getNode:
    'Shows each API with its state and the reason why one is not served, targets that are down, and open circuit breakers.',
  deleteKeySetCache: 'Key sets (JWKS) of issuers are read again with the next token, on all nodes.',
  deleteApiKeySetCache: 'Key sets are shared by APIs, so those of all APIs are read again.',
  deleteApiCache: 'On all nodes.',
  getExtensionSchema: 'For editors and validators. The same with a description of each member is in the reference.',
  getOpenapiDocument: 'For generators of clients.',
  explainRequest:
    'Walks the steps of the request without sending it and without taking a permit of a limit. The last step names the rule that would refuse it. Credentials in `headers` are not shown.',
  getHealth:
    'Always 200: `status` of the answer says whether all parts are healthy. Callers who may read the metrics see numbers too.',
  getReadiness: 'For load balancers: 200 once everything stored is served, 503 before that and while the node stops.',
  getMetrics: 'Takes `metrics.secret` in `Authorization: Bearer` too.',
}
