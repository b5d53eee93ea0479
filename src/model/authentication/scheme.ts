import type { Pair } from '../apis/convert/convert-pairs.ts'
import { textOf } from '../apis/definition/members.ts'
import { type Flaw, getAt, pathOf } from '../apis/definition/tree.ts'
import type { Schema } from '../apis/schema/schema.ts'
import type { MemberTexts } from '../apis/texts/member-texts.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** A part of a request that holds a credential, or belongs to one. */
export interface CredentialPlace {
  /** `headers`, `cookies`: all whose names begin so. */
  readonly in: 'header' | 'headers' | 'query' | 'cookie' | 'cookies'
  readonly name: string
  /** Equal where upstreams may take one for the other. */
  readonly key: string
}

/** One way to prove who calls: where the proof is read (in one of these places only), and what it is checked by. */
export interface SchemeRules {
  /** Of `SCHEMES` (`schemes.ts`). */
  readonly method: string
  /** Lower case name, undefined = not read there. */
  readonly header: string | undefined
  readonly query: string | undefined
  readonly cookie: string | undefined
  /** True = of a caller without a key, the certificate of the connection is the key (method `token`). */
  readonly certificate?: boolean
  /** Further settings that the scheme reads; see `settingsOf`. */
  readonly settings?: unknown
}

/** The proof of a bound token (RFC 9449). */
export const PROOF_FIELD = 'dpop'

/** How OpenAPI declares a scheme in `components.securitySchemes`. */
export interface SchemeDeclaration {
  /** True for a declaration of this scheme. */
  matches(declared: JsonObject): boolean
  /** Of schemes that are declared alike: true for settings of this one in the extension. */
  settles?(settings: JsonObject): boolean
  /** A new declaration for the settings of `auth_configs`. */
  declare(config: JsonObject): JsonObject
}

/** Conversions of a scheme that are more than pairs of members. */
export interface SchemeConversion {
  /** Writes into the declared scheme and into its settings in the extension. */
  toOas(classic: JsonObject, declared: JsonObject, settings: JsonObject): void
  /** Writes what `security` asks of the scheme, once the schemes are listed there. */
  securityToOas(classic: JsonObject, document: JsonObject, name: string): void
  toClassic(document: JsonObject, name: string, settings: JsonObject, classic: JsonObject): void
}

/**
 * An authentication scheme: what definitions say of it in both formats, and which parts of a request hold its credential. Its step is in
 * `gateway/apis/compile-auth.ts`, its section of the console in `console/src/pages/apis/authentication/schemes.ts`.
 */
export interface Scheme<Method extends string = string, Settings = unknown> {
  readonly method: Method
  /** Name in `auth_types` of APIs and policies. */
  readonly type: string
  /** Switch of a classic definition, a dotted path; see `isMethodOn`. */
  readonly on: string
  /** Member of `auth_configs`, and the usual name of the scheme in OpenAPI. */
  readonly config: string
  /** Name in `base_identity_provided_by`. */
  readonly identity: string
  /** Where a definition asks for several schemes and does not say whose rights count, it is the one of the highest rank. */
  readonly rank: number
  /** undefined = OpenAPI cannot declare it: its settings are a section of the extension's `authentication`, named `config`. */
  readonly declaration: SchemeDeclaration | undefined
  /** Members of a classic definition. */
  readonly classicSchema: Readonly<Record<string, Schema>>
  /** Members of the scheme in the extension. */
  readonly oasSchema: Readonly<Record<string, Schema>>
  /** Descriptions of `classicSchema` and of the switch, by paths; members of `pairs` without one have that of the extension. */
  readonly classicTexts: MemberTexts
  /** Descriptions of `oasSchema`, by paths below the scheme: '' = the section of a scheme that OpenAPI cannot declare. */
  readonly oasTexts: MemberTexts
  /** Members of a classic definition, and the same below the scheme in the extension. */
  readonly pairs: readonly Pair[]
  readonly conversion?: SchemeConversion
  /** Members that a classic definition may not have unless we know them: by the beginning of their name, and below these paths. */
  readonly closed?: { readonly prefix: string; readonly sections: readonly (readonly string[])[] }
  /** True = a client certificate can replace the credential (`use_certificate`). */
  readonly takesCertificates?: true
  /** The kind of access that the portal gives developers to APIs with this scheme; undefined = none. */
  readonly access?: 'key' | 'oauth'
  /** Scheme word of `Authorization` (lower case) besides `Bearer` and `DPoP`. */
  readonly word?: string
  /** True = `Authorization` may hold the credential behind any word or none. */
  readonly takesAnyWord?: true
  /** Fields of a request that belong to the credential. */
  readonly extraFields: readonly string[]
  /** Fields that are a credential by themselves, where it is in none of the configured places. */
  readonly ownFields?: readonly string[]
  /** The credential is an access token (RFC 6750): of the API's authorization server, or of another issuer. undefined = it is none. */
  readonly accessTokens?: 'own' | 'foreign'
  /** True when the credential identifies one caller and nothing else, so that responses can be stored by it. */
  readonly identifies: boolean
  /** The settings of the scheme in a definition, besides the places. */
  read?(classic: JsonObject): Settings
  /** Contradictions in a classic definition with this scheme. */
  flaws?(classic: JsonObject): Flaw[]
  /** Choices of a classic definition with this scheme that are taken and reported to the author: weaker ones, and those without effect. */
  warnings?(classic: JsonObject): Flaw[]
}

/** True when a classic definition switches a method on. */
export function isMethodOn(classic: JsonObject, { on }: Pick<Scheme, 'on'>): boolean {
  return getAt(classic, pathOf(on)) === true
}

/** True for a declaration, and its settings in the extension, that mean this scheme. */
export function declares({ declaration }: Pick<Scheme, 'declaration'>, declared: JsonObject, settings: Json): boolean {
  if (declaration === undefined || !declaration.matches(declared)) return false
  return declaration.settles === undefined || !isObject(settings) || declaration.settles(settings)
}

/** The declaration of a scheme of HTTP (RFC 9110 section 11), named in lower case. */
export function httpScheme(scheme: string, more: JsonObject = {}): SchemeDeclaration {
  return {
    matches: (declared) => declared.type === 'http' && textOf(declared, 'scheme').toLowerCase() === scheme,
    declare: () => ({ type: 'http', scheme, ...more }),
  }
}

/** The settings that a scheme has read. @throws Error for rules of another scheme */
export function settingsOf<Settings>(scheme: Scheme<string, Settings>, rules: SchemeRules): Settings {
  if (rules.method !== scheme.method) throw new Error(`rules of ${rules.method}, not of ${scheme.method}`)
  return rules.settings as Settings
}
