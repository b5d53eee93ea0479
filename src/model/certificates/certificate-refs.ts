import { EXTENSION, objectOf, objectsOf, textOf, textsOf } from '../apis/definition/members.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** The uses of a certificate by an API. */
export type CertificateUse = 'custom_domain' | 'client' | 'upstream' | 'pinned'

/** One certificate in a definition, as it is named there: by its id, or its fingerprint alone. */
export interface CertificateRef {
  readonly name: string
  readonly use: CertificateUse
}

/** Both names of the list of certificates by host. */
const CERTIFICATE_LISTS = ['domainToCertificates', 'domainToCertificateMapping']

/** The certificates that a stored API names, those for what is turned off too. */
export function certificateRefs(stored: JsonObject): CertificateRef[] {
  const definition = objectOf(stored, 'definition')
  if (stored.format !== 'oas') return classicRefs(definition)
  const extension = objectOf(definition, EXTENSION)
  const [server, upstream] = [objectOf(extension, 'server'), objectOf(extension, 'upstream')]
  return [
    ...named('custom_domain', textsOf(objectOf(server, 'customDomain'), 'certificates')),
    ...named('client', textsOf(objectOf(server, 'clientCertificates'), 'allowlist')),
    ...named(
      'upstream',
      CERTIFICATE_LISTS.flatMap((list) => pairsOf(upstream, 'mutualTLS', list)).map((pair) =>
        textOf(pair, 'certificate'),
      ),
    ),
    ...named(
      'pinned',
      pairsOf(upstream, 'certificatePinning', 'domainToPublicKeysMapping').flatMap((pair) =>
        textsOf(pair, 'publicKeys'),
      ),
    ),
  ]
}

/** The names of the certificates that a stored API names, each once: what it is filed under. */
export function certificateNames(stored: JsonObject): string[] {
  return [...new Set(certificateRefs(stored).map(({ name }) => name))]
}

/** The definition of a stored API without some certificates; all else stays as it is. */
export function withoutCertificates(stored: JsonObject, names: ReadonlySet<string>): JsonObject {
  const definition = objectOf(stored, 'definition')
  if (stored.format !== 'oas') return classicWithout(definition, names)
  const extension = objectOf(definition, EXTENSION)
  const edited = {
    ...extension,
    ...edit(extension, 'server', (server) => ({
      ...edit(server, 'customDomain', (domain) => withoutTexts(domain, 'certificates', names)),
      ...edit(server, 'clientCertificates', (clients) => withoutTexts(clients, 'allowlist', names)),
    })),
    ...edit(extension, 'upstream', (upstream) => ({
      ...edit(upstream, 'mutualTLS', (tls) =>
        Object.assign(
          {},
          ...CERTIFICATE_LISTS.map((list) =>
            changeList(tls, list, (pairs) => pairs.filter((pair) => !names.has(textOf(pair, 'certificate')))),
          ),
        ),
      ),
      ...edit(upstream, 'certificatePinning', (pinning) =>
        changeList(pinning, 'domainToPublicKeysMapping', (pairs) =>
          pairs.map((pair) => ({ ...(pair as JsonObject), ...withoutTexts(pair as JsonObject, 'publicKeys', names) })),
        ),
      ),
    })),
  }
  return { ...definition, [EXTENSION]: edited }
}

function classicRefs(definition: JsonObject): CertificateRef[] {
  return [
    ...named('custom_domain', textsOf(definition, 'certificates')),
    ...named('client', textsOf(definition, 'client_certificates')),
    ...named('upstream', Object.values(objectOf(definition, 'upstream_certificates')).filter(isText)),
    ...named('pinned', Object.values(objectOf(definition, 'pinned_public_keys')).filter(isText).flatMap(split)),
  ]
}

function classicWithout(definition: JsonObject, names: ReadonlySet<string>): JsonObject {
  const kept = (name: string, change: (value: string) => string) => {
    const entries = Object.entries(objectOf(definition, name)).map(
      ([host, value]) => [host, isText(value) ? change(value) : value] as const,
    )
    return Object.fromEntries(entries.filter(([, value]) => value !== ''))
  }
  return {
    ...definition,
    ...withoutTexts(definition, 'certificates', names),
    ...withoutTexts(definition, 'client_certificates', names),
    ...(isObject(definition.upstream_certificates) && {
      upstream_certificates: kept('upstream_certificates', (value) => (names.has(value) ? '' : value)),
    }),
    ...(isObject(definition.pinned_public_keys) && {
      pinned_public_keys: kept('pinned_public_keys', (value) =>
        split(value)
          .filter((name) => !names.has(name))
          .join(','),
      ),
    }),
  }
}

/** The member of an object as `change` makes it, where there is one. */
function edit(object: JsonObject, name: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const value = object[name]
  return isObject(value) ? { [name]: { ...value, ...change(value) } } : {}
}

/** A list of objects as `change` makes it, where there is one. */
function changeList(object: JsonObject, name: string, change: (pairs: Json[]) => Json[]): JsonObject {
  return Array.isArray(object[name]) ? { [name]: change(objectsOf(object, name)) } : {}
}

/** A list of texts without some, where there is one. */
function withoutTexts(object: JsonObject, name: string, names: ReadonlySet<string>): JsonObject {
  const list = object[name]
  return Array.isArray(list) ? { [name]: list.filter((entry) => !(isText(entry) && names.has(entry))) } : {}
}

function pairsOf(upstream: JsonObject, name: string, list: string): JsonObject[] {
  return objectsOf(objectOf(upstream, name), list)
}

function named(use: CertificateUse, names: readonly string[]): CertificateRef[] {
  return names.filter((name) => name !== '').map((name) => ({ name, use }))
}

function split(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

const isText = (value: Json | undefined): value is string => typeof value === 'string'
