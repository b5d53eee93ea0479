import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { CityResponse, Reader } from 'maxmind'
import { type GeoLocation, NO_LOCATION } from '../../model/analytics/geography.ts'
import { isObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import { PeriodicJob } from '../../runtime/periodic-job.ts'

/** Countries of addresses that are remembered: two generations of so many. About 100 bytes each. */
const REMEMBERED = 10_000
const LOOK_EVERY_MS = 30_000
const COUNTRY = /^[A-Z]{2}$/
const TEXT_CHARACTERS = 128

/** Where clients are, by an MMDB file that is held in memory. Without a file that can be read nothing is known. */
export class Geography {
  readonly #file: string
  readonly #log: Log
  #reader: Reader<CityResponse> | undefined
  /** Time and size of the file that is in use, or that could not be read. */
  #seen = ''
  #young = new Map<string, string>()
  #old = new Map<string, string>()
  readonly #job: PeriodicJob

  constructor(file: string, log: Log) {
    this.#file = file
    this.#log = log
    this.#job = new PeriodicJob({ everyMs: LOOK_EVERY_MS, run: () => this.look(), onError() {} })
  }

  /** Reads the file, where it has changed. Never throws: traffic does not depend on it. */
  async look(): Promise<void> {
    try {
      const { mtimeMs, size } = await stat(this.#file)
      const seen = `${mtimeMs} ${size}`
      if (seen === this.#seen) return
      this.#seen = seen
      const bytes = await readFile(this.#file)
      // Loaded where it is used alone: most installations have no such file.
      const { Reader } = await import('maxmind')
      const reader = new Reader<CityResponse>(bytes)
      reader.get('192.0.2.1')
      this.#reader = reader
      this.#young.clear()
      this.#old.clear()
      this.#log.info({ file: this.#file }, 'GeoIP database loaded')
    } catch (cause) {
      this.#log.error({ cause, file: this.#file }, 'cannot read the GeoIP database')
    }
  }

  /** ISO code of the country of an address; '' when it is not known. Some microseconds for one that was not met before. */
  countryOf(address: string): string {
    const found = this.#young.get(address) ?? this.#old.get(address)
    if (found !== undefined) return found
    const country = this.placeOf(address)?.country ?? ''
    if (this.#young.size >= REMEMBERED) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(address, country)
    return country
  }

  /** All that is known of the place of an address. */
  placeOf(address: string): GeoLocation | undefined {
    if (this.#reader === undefined || isIP(address) === 0) return undefined
    try {
      // An IPv4 client of a socket that listens on IPv6 comes mapped; not every file knows such addresses.
      return readPlace(this.#reader.get(address.replace(/^::ffff:(?=\d+\.)/i, '')))
    } catch {
      // A file that is damaged somewhere is still good for the rest.
      return undefined
    }
  }

  close(): void {
    void this.#job.close()
  }
}

/** The file is untrusted: every part of it is checked. */
function readPlace(found: unknown): GeoLocation | undefined {
  if (!isObject(found)) return undefined
  const [country, registered, city, location] = ['country', 'registered_country', 'city', 'location'].map((name) =>
    objectAt(found, name),
  )
  const code = textAt(country!, 'iso_code') || textAt(registered!, 'iso_code')
  return {
    ...NO_LOCATION,
    country: COUNTRY.test(code) ? code : '',
    city: numberAt(city!, 'geoname_id'),
    city_name: textAt(objectAt(city!, 'names'), 'en'),
    latitude: numberAt(location!, 'latitude'),
    longitude: numberAt(location!, 'longitude'),
    time_zone: textAt(location!, 'time_zone'),
  }
}

type Members = Readonly<Record<string, unknown>>

function objectAt(from: Members, name: string): Members {
  const value = from[name]
  return isObject(value) ? value : {}
}

function textAt(from: Members, name: string): string {
  const value = from[name]
  return typeof value === 'string' ? value.slice(0, TEXT_CHARACTERS) : ''
}

function numberAt(from: Members, name: string): number {
  const value = from[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
