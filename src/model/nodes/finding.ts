/** How much a finding matters: an error keeps the installation from working, a warning is a risk, the rest is to be known. */
export type Severity = 'error' | 'warning' | 'info'

/** Something that `gatehouse doctor` found. */
export interface Finding {
  readonly severity: Severity
  /** The part that was looked at. */
  readonly check: 'configuration' | 'settings' | 'store' | 'migrations' | 'clock' | 'ports' | 'certificates'
  readonly what: string
  /** A setting, a file, an address. */
  readonly where: string
  /** The remedy. */
  readonly action: string
}
