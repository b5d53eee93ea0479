import { type Matcher, matcherFor } from '../patterns/matcher.ts'
import type { PatternWork } from '../patterns/pattern-work.ts'
import type { AllowedUrl } from './session.ts'

/** One entry of `allowed_urls`, ready to be compared. */
export interface PathRule {
  /** Compared exactly. */
  readonly methods: readonly string[]
  /** undefined = did not compile: matches nothing. */
  readonly pattern: Matcher | undefined
}

/** Compiles `allowed_urls`; undefined means every path, as does an empty or absent list. */
export function compilePaths(urls: readonly AllowedUrl[] | null | undefined): readonly PathRule[] | undefined {
  if (urls === null || urls === undefined || urls.length === 0) return undefined
  return urls.map(({ url, methods }) => ({ methods: methods ?? [], pattern: matcherFor(url) }))
}

/**
 * True when a rule names the method (GET speaks of HEAD too) and its pattern is found in the request path: readable, listen path
 * included. @throws Fault `patterns_over_budget` (503) when there is too much to compare
 */
export function allowsPath(
  rules: readonly PathRule[] | undefined,
  method: string,
  fullPath: string,
  account: PatternWork,
): boolean {
  if (rules === undefined) return true
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!
    if (rule.pattern !== undefined && namesMethod(rule.methods, method) && rule.pattern.test(fullPath, account))
      return true
  }
  return false
}

function namesMethod(methods: readonly string[], method: string): boolean {
  return methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))
}

/** Unites lists of allowed paths: entries with one url become one with the methods of all. No list at all wins over any; a single one stays as it is. */
export function unitePaths(lists: readonly (readonly AllowedUrl[])[]): readonly AllowedUrl[] {
  if (lists.length === 1) return lists[0]!
  return lists.some((list) => list.length === 0) ? [] : listed(byUrl(lists.flat()))
}

/**
 * The common part of two lists of allowed paths, where the second names only patterns of the first; undefined where it names another one:
 * two regular expressions have no common one. No list at all allows every path.
 */
export function commonPaths(a: readonly AllowedUrl[], b: readonly AllowedUrl[]): readonly AllowedUrl[] | undefined {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a
  const first = byUrl(a)
  const common = byUrl(b)
  for (const [url, methods] of common) {
    const known = first.get(url)
    if (known === undefined) return undefined
    const [ones, others] = [[...methods], [...known]]
    const both = [...ones, ...others].filter((each) => namesMethod(ones, each) && namesMethod(others, each))
    common.set(url, new Set(both))
  }
  return listed(common)
}

/** The methods of each pattern, of all its entries together. */
function byUrl(urls: readonly AllowedUrl[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { url, methods } of urls) {
    const known = found.get(url)
    if (known === undefined) found.set(url, new Set(methods))
    else for (const method of methods ?? []) known.add(method)
  }
  return found
}

function listed(methodsByUrl: ReadonlyMap<string, ReadonlySet<string>>): AllowedUrl[] {
  return [...methodsByUrl].map(([url, methods]) => ({ url, methods: [...methods] }))
}
