import type { JsonObject } from '../json/json.ts'

/** Where an address is, as a database of addresses tells it. Names of members as in records. */
export interface GeoLocation extends JsonObject {
  /** ISO 3166-1, '' = not known. */
  readonly country: string
  /** Number of the city at GeoNames, 0 = not known. */
  readonly city: number
  /** English. */
  readonly city_name: string
  readonly latitude: number
  readonly longitude: number
  readonly time_zone: string
}

/** Of addresses that nothing is known of. */
export const NO_LOCATION: GeoLocation = {
  country: '',
  city: 0,
  city_name: '',
  latitude: 0,
  longitude: 0,
  time_zone: '',
}
