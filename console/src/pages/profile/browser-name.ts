import { say } from '../../texts/say.ts'

/** The first that fits counts: browsers call themselves after others too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]
const LONGEST = 60

/** A browser as people call it, from what it calls itself. */
export function browserOf(agent: string): string {
  const browser = nameIn(BROWSERS, agent)
  if (browser === undefined) return agent.slice(0, LONGEST) || say('profile.unknownBrowser')
  const system = nameIn(SYSTEMS, agent)
  return system === undefined ? browser : say('profile.on', { browser, system })
}

function nameIn(names: readonly (readonly [RegExp, string])[], agent: string): string | undefined {
  return names.find(([pattern]) => pattern.test(agent))?.[1]
}
