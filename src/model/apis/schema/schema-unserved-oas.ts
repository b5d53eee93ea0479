import { anyNumber, anything, bool, list, map, object, type Schema, text, unserved } from './schema.ts'

const switched = (members: Readonly<Record<string, Schema>> = {}) => object({ enabled: bool(), ...members })
const place = () => switched({ name: text() })
const places = () => ({ header: place(), query: place(), cookie: place() })

const plugins = () =>
  list(
    switched({
      ...{ functionName: text(), path: text(), rawBodyOnly: bool(), requireSession: bool() },
      ...{ code: text(), pluginHash: text(), pluginId: text() },
    }),
  )

const lists = ['prePlugin', 'postAuthenticationPlugin', 'postPlugin', 'responsePlugin']

const discovery = () =>
  switched({
    cache: switched({ timeout: anyNumber() }),
    cacheTimeout: anyNumber(),
    dataPath: text(),
    endpointReturnsList: bool(),
    parentDataPath: text(),
    portDataPath: text(),
    queryEndpoint: text(),
    targetPath: text(),
    useNestedQuery: bool(),
    useTargetList: bool(),
  })

const metadata = () =>
  switched({
    authorizationServers: list(text()),
    autoDeriveScopes: bool(),
    resource: text(),
    scopesSupported: list(text()),
    wellKnownPath: text(),
  })

const provider = () =>
  object({
    introspection: switched({
      ...{ cache: switched({ timeout: anyNumber() }), clientId: text(), clientSecret: text() },
      ...{ identityBaseField: text(), url: text() },
    }),
    jwt: switched({
      ...{ expiresAtValidationSkew: anyNumber(), identityBaseField: text(), issuedAtValidationSkew: anyNumber() },
      ...{ notBeforeValidationSkew: anyNumber(), signingMethod: text(), source: text() },
    }),
  })

const exchangeIssuer = () =>
  object({
    cache: switched({ maxTimeout: text(), mode: text(), safetyMargin: text(), timeout: text() }),
    clientAuth: object({ certId: text(), clientId: text(), clientSecret: text(), method: text() }),
    customParams: map(text()),
    defaultTarget: object({ audience: text(), scopes: list(text()) }),
    grantType: text(),
    issuers: list(text()),
    name: text(),
    timeout: text(),
    tokenEndpoint: text(),
  })

const securityScheme = () =>
  object({
    customClaimValidation: map(object({ allowedValues: list(anything()), nonBlocking: bool(), type: text() })),
    extractCredentialsFromBody: switched({ passwordRegexp: text(), userRegexp: text() }),
    protectedResourceMetadata: metadata(),
    providers: list(provider()),
    scopeCheck: switched({ claimNames: list(text()), scopeSource: text(), separator: text() }),
    signatureValidation: switched({
      ...{ algorithm: text(), allowedClockSkew: anyNumber(), errorCode: anyNumber(), errorMessage: text() },
      ...{ header: text(), query: place(), secret: text() },
    }),
    tokenExchange: switched({ providers: list(exchangeIssuer()) }),
  })

const authentication = () =>
  object({
    certificateAuth: switched(),
    custom: switched({
      ...places(),
      config: switched({
        functionName: text(),
        idExtractor: switched({
          config: object({
            ...{ formParamName: text(), headerName: text(), regexp: text(), regexpMatchIndex: anyNumber() },
            xPathExp: text(),
          }),
          source: text(),
          with: text(),
        }),
        ...{ path: text(), rawBodyOnly: bool(), requireSession: bool() },
      }),
    }),
    oidc: switched({
      ...places(),
      providers: list(
        object({ clientToPolicyMapping: list(object({ clientId: text(), policyId: text() })), issuer: text() }),
      ),
      scopes: object({
        claimName: text(),
        claims: list(text()),
        scopeToPolicyMapping: list(object({ policyId: text(), scope: text() })),
      }),
      segregateByClientId: bool(),
    }),
    protectedResourceMetadata: metadata(),
    securitySchemes: map(securityScheme()),
  })

const upstreamOauth = (more: Readonly<Record<string, Schema>> = {}) =>
  object({
    ...{ clientId: text(), clientSecret: text(), extraMetadata: list(text()), header: place(), method: text() },
    ...{ scopes: list(text()), tokenUrl: text() },
    ...more,
  })

const upstreamAuthentication = () =>
  switched({
    basicAuth: switched({ header: place(), password: text(), username: text() }),
    oauth: switched({
      allowedAuthorizeTypes: list(text()),
      clientCredentials: upstreamOauth(),
      password: upstreamOauth({ password: text(), username: text() }),
    }),
    requestSigning: switched({
      ...{ algorithm: text(), certificateId: text(), headers: list(text()), keyId: text(), secret: text() },
      signatureHeader: text(),
    }),
  })

const operation = () =>
  object({
    exchange: switched({ audience: text(), scopes: list(text()) }),
    postPlugins: list(switched({ functionName: text(), name: text(), path: text() })),
    scopeCheck: switched(),
    virtualEndpoint: switched({
      ...{ body: text(), functionName: text(), name: text(), path: text() },
      ...{ proxyOnError: bool(), requireSession: bool() },
    }),
  })

/** The same of the extension of OpenAPI documents. */
export const EXTENSION_UNSERVED: Schema = object({
  middleware: object({
    global: object({
      pluginConfig: object({ bundle: switched({ path: text() }) }),
      trafficLogs: object({ plugins: plugins(), customRetentionPeriod: text() }),
      ...Object.fromEntries(lists.map((each) => [each, object({ plugins: plugins() })])),
      ...Object.fromEntries(lists.map((each) => [`${each}s`, plugins()])),
    }),
    mcpResources: map(anything()),
    mcpPrompts: map(anything()),
    operations: map(operation()),
  }),
  server: object({
    authentication: authentication(),
    contextVariables: unserved('has no effect: "middleware.global.contextVariables" has the switch', switched()),
    eventHandlers: list(object({ functionName: text(), id: text(), name: text(), path: text() })),
    slug: text(),
  }),
  upstream: object({
    authentication: upstreamAuthentication(),
    serviceDiscovery: discovery(),
    uptimeTests: object({
      logRetentionPeriod: unserved('has no effect: no history of health checks is kept', text()),
      serviceDiscovery: discovery(),
      tests: list(object({ commands: list(object({ message: text(), name: text() })), enableProxyProtocol: bool() })),
    }),
  }),
})
