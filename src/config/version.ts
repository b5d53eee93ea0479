import { readFileSync } from 'node:fs'

/** The version of the product, from package.json. */
export function productVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return manifest.version
}
