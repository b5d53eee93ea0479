import { CODINGS, FLAG_NAMES, PATH_MATCHINGS } from '../definition/api.ts'
import { withMemberTexts } from '../texts/member-texts.ts'
import { OAS_TEXTS } from '../texts/oas-texts.ts'
import { anything, bool, list, map, number, object, oneOf, type Schema, text, whole } from './schema.ts'
import { IDENTITY_SOURCES, OAS_SCHEME_AUTH, oasSections } from './schema-auth.ts'
import { OAS_RESILIENCE } from './schema-upstream.ts'

const switched = (members: Readonly<Record<string, Schema>> = {}) => object({ enabled: bool(), ...members })

/** Where a scheme reads its credential. */
const place = (name: Schema) => switched({ name })

const headerEdits = () =>
  switched({
    add: list(object({ name: text('fieldName'), value: text('fieldValue') }, ['name']), 500),
    remove: list(text('fieldName'), 500),
  })

const bodyTransform = () => switched({ format: text(), path: text(), body: text(), enableSession: bool() })

const modules = () =>
  list(
    switched({
      ...{ functionName: text(), path: text(), requireSession: bool(), rawBodyOnly: bool() },
      bodyLimitBytes: number(),
    }),
    1000,
  )

const rate = () => switched({ rate: number(), per: text('duration') })

const securityScheme = () =>
  switched({
    header: place(text('optionalFieldName')),
    query: place(text()),
    cookie: place(text('optionalFieldName')),
    enableClientCertificate: bool(),
    signatureValidation: switched(),
    signature: switched(),
    ...OAS_SCHEME_AUTH,
  })

const trigger = () =>
  object({
    condition: oneOf('', 'any', 'all'),
    rules: list(
      object({
        in: oneOf('', 'header', 'query', 'path', 'sessionMetadata', 'requestBody', 'requestContext'),
        name: text(),
        pattern: text(),
        negate: bool(),
      }),
    ),
    rewriteTo: text(),
  })

const operation = () =>
  object({
    allow: switched({ ignoreCase: bool() }),
    block: switched({ ignoreCase: bool() }),
    ignoreAuthentication: switched({ ignoreCase: bool() }),
    internal: switched(),
    rateLimit: rate(),
    requestSizeLimit: switched({ value: whole() }),
    enforceTimeout: switched({ value: number(86_400), duration: text('optionalDuration') }),
    circuitBreaker: switched({
      threshold: number(),
      sampleSize: whole(),
      coolDownPeriod: whole(),
      halfOpenStateEnabled: bool(),
    }),
    urlRewrite: switched({ pattern: text(), rewriteTo: text(), triggers: list(trigger()) }),
    validateRequest: switched({ errorResponseCode: whole(599), fillDefaults: bool() }),
    mockResponse: switched({
      code: whole(599),
      body: text(),
      headers: list(object({ name: text('fieldName'), value: text('fieldValue') }, ['name']), 500),
      fromOASExamples: switched({ code: whole(599), contentType: text(), exampleName: text() }),
    }),
    cache: switched({ timeout: number(), cacheByRegex: text(), cacheResponseCodes: list(whole(599)) }),
    trackEndpoint: switched(),
    doNotTrackEndpoint: switched(),
    transformRequestHeaders: headerEdits(),
    transformResponseHeaders: headerEdits(),
    transformRequestMethod: switched({ toMethod: text('method') }),
    transformRequestBody: bodyTransform(),
    transformResponseBody: bodyTransform(),
    virtualEndpoint: switched(),
    postPlugins: list(object({})),
  })

const info = () =>
  object(
    {
      id: text(),
      dbId: text(),
      orgId: text(),
      name: text(),
      expiration: text('expiry'),
      state: object({ active: bool(), internal: bool() }, ['active']),
      versioning: switched({
        name: text(),
        default: text(),
        location: oneOf('', 'header', 'url-param', 'url'),
        key: text(),
        versions: list(object({ name: text(), id: text() }, ['name', 'id'])),
        stripVersioningData: bool(),
        urlVersioningPattern: text('pattern'),
        fallbackToDefault: bool(),
      }),
    },
    ['name', 'state'],
  )

const upstream = () =>
  object({
    url: text(),
    loadBalancing: switched({
      skipUnavailableHosts: bool(),
      targets: list(object({ url: text('target'), weight: whole(100) }, ['url']), 100),
    }),
    rateLimit: rate(),
    preserveHostHeader: switched(),
    preserveTrailingSlash: switched(),
    enforceTimeout: switched({ duration: text('optionalDuration') }),
    tlsTransport: object({
      insecureSkipVerify: bool(),
      ciphers: list(text()),
      minVersion: text(),
      maxVersion: text(),
      forceCommonNameCheck: bool(),
    }),
    proxy: switched({ url: text() }),
    authentication: switched(),
    ...OAS_RESILIENCE(),
  })

const eventHandler = () =>
  object({
    enabled: bool(),
    trigger: text(),
    type: text(),
    url: text(),
    method: text(),
    headers: list(object({ name: text(), value: text() }, ['name', 'value']), 50),
    bodyTemplate: text(),
    cooldownPeriod: text('duration'),
    logPrefix: text(),
  })

const server = () =>
  object(
    {
      listenPath: object({ value: text('listenPath'), strip: bool() }, ['value']),
      authentication: switched({
        stripAuthorizationData: bool(),
        baseIdentityProvider: oneOf(...IDENTITY_SOURCES),
        securitySchemes: map(securityScheme()),
        ...oasSections(place),
        securityProcessingMode: oneOf('', 'legacy', 'compliant'),
        security: list(list(text())),
        customKeyLifetime: switched({ value: anything(), respectValidity: bool() }),
      }),
      gatewayTags: switched({ tags: list(text()) }),
      customDomain: switched({ name: text('domain'), certificates: list(text()) }),
      clientCertificates: switched({ allowlist: list(text()) }),
      ipAccessControl: switched({ allow: list(text('address')), block: list(text('address')) }),
      detailedActivityLogs: switched(),
      detailedTracing: switched(),
      eventHandlers: list(eventHandler(), 100),
      batchProcessing: switched(),
      allowEncodedSlashes: bool(),
      allowTrace: bool(),
      grpcWeb: bool(),
      pathMatching: oneOf('', ...PATH_MATCHINGS),
      protocol: text(),
      port: whole(65_535),
    },
    ['listenPath'],
  )

const middleware = () =>
  object({
    global: object({
      cors: switched({
        allowedOrigins: list(text('origin')),
        allowedMethods: list(text('method')),
        allowedHeaders: list(text('fieldValue')),
        exposedHeaders: list(text('fieldValue')),
        allowCredentials: bool(),
        maxAge: whole(),
        optionsPassthrough: bool(),
        debug: bool(),
      }),
      cache: switched({
        timeout: whole(),
        cacheAllSafeRequests: bool(),
        cacheResponseCodes: list(whole(599)),
        cacheByHeaders: list(text('fieldName')),
        enableUpstreamCacheControl: bool(),
        controlTTLHeaderName: text('optionalFieldName'),
        shareBetweenKeys: bool(),
        storeSetCookie: bool(),
        staleWhileRevalidate: whole(),
        staleIfError: whole(),
      }),
      compression: switched({ encodings: list(oneOf(...CODINGS)), minimumBytes: whole() }),
      transformRequestHeaders: headerEdits(),
      transformResponseHeaders: headerEdits(),
      trafficLogs: switched({ tagHeaders: list(text('fieldName')), customRetentionPeriod: anything() }),
      contextVariables: switched(),
      requestSizeLimit: switched({ value: whole() }),
      ignoreCase: switched(),
      skipRateLimit: bool(),
      skipQuota: bool(),
      onStoreFailure: oneOf('', 'refuse', 'allow'),
      skipQuotaReset: bool(),
      pluginConfig: object({ driver: text(), data: switched({ value: object({}) }) }),
      prePlugins: modules(),
      postAuthenticationPlugins: modules(),
      postPlugins: modules(),
      responsePlugins: modules(),
    }),
    operations: map(operation()),
    mcpTools: map(object({ allow: switched(), block: switched(), rateLimit: rate(), trackEndpoint: switched() })),
  })

const errorOverride = () =>
  object({
    match: object({
      flag: oneOf('', ...FLAG_NAMES),
      ...{ messagePattern: text('pattern'), bodyField: text('jsonField'), bodyValue: text() },
    }),
    response: object({
      ...{ statusCode: whole(599), body: text(), message: text(), template: text() },
      headers: map(text('fieldValue'), 'fieldName'),
    }),
  })

/** The remainder that a conversion carries beside the document (see `preservedMembersOf` in convert.ts). */
const kept = () => map(object({ put: list(anything()), is: anything(), was: anything() }))

/** JSON Schema of the extension `x-svc-api-gateway`. */
export const EXTENSION_SCHEMA: Schema = withMemberTexts(
  object(
    {
      info: info(),
      upstream: upstream(),
      server: server(),
      middleware: middleware(),
      errorOverrides: switched({ value: map(list(errorOverride(), 100), 'errorStatus') }),
      classic: object({ version: text(), kept: kept() }),
    },
    ['info', 'upstream', 'server'],
  ),
  OAS_TEXTS,
)

const security = () => ({
  type: 'array',
  maxItems: 1000,
  items: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
})

const operationObject = () => ({
  type: 'object',
  properties: { operationId: { type: 'string' }, security: security() },
})

const pathItem = () => ({
  type: 'object',
  properties: Object.fromEntries(
    ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].map((method) => [method, operationObject()]),
  ),
})

const flow = () => ({ type: 'object', properties: { scopes: { type: 'object' } } })

const declaredScheme = () => ({
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'] },
    in: { type: 'string', enum: ['header', 'query', 'cookie'] },
    name: { type: 'string' },
    scheme: { type: 'string' },
    bearerFormat: { type: 'string' },
    flows: {
      type: 'object',
      properties: { implicit: flow(), password: flow(), clientCredentials: flow(), authorizationCode: flow() },
    },
  },
})

/**
 * JSON Schema of the OpenAPI document around the extension: what we read must have its shape, the rest is the author's.
 * (OpenAPI 3.1 lets `paths` be absent.)
 */
export const OPENAPI_SCHEMA: Schema = {
  type: 'object',
  required: ['openapi', 'info'],
  properties: {
    openapi: { type: 'string', pattern: '^3\\.[012]\\.[0-9]{1,3}$' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      properties: { title: { type: 'string' }, version: { type: 'string' } },
    },
    paths: { type: 'object', propertyNames: { pattern: '^(/|x-)' }, additionalProperties: pathItem() },
    servers: {
      type: 'array',
      maxItems: 1000,
      items: {
        type: 'object',
        required: ['url'],
        properties: {
          url: { type: 'string' },
          variables: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              required: ['default'],
              properties: { default: { type: 'string' } },
            },
          },
        },
      },
    },
    components: {
      type: 'object',
      properties: { securitySchemes: { type: 'object', additionalProperties: declaredScheme() } },
    },
    security: security(),
    tags: { type: 'array' },
  },
}
