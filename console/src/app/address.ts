import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Query parameters as text, so that an address can be read, shared and opened again. */
export type AddressParams = Readonly<Record<string, string>>

/** Reads a query into words; what is given twice counts once. */
export function readAddressParams(query: string): AddressParams {
  return Object.fromEntries(new URLSearchParams(query))
}

/** Writes words as a query; empty ones are left out. */
export function writeAddressParams(words: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(words))
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}

/**
 * State of a page in its address: query parameters with their defaults. Setting one keeps the others; a
 * new search or filter starts at the first page again, which the caller sets (`{ q, page: '' }`).
 */
export function useAddress<Name extends string>(
  absent: Readonly<Record<Name, string>>,
): readonly [Readonly<Record<Name, string>>, (change: Partial<Record<Name, string>>) => void] {
  const search = useSearch({ strict: false }) as AddressParams
  const navigate = useNavigate()
  const words = Object.fromEntries(
    Object.entries<string>(absent).map(([name, value]) => [name, search[name] ?? value]),
  ) as Record<Name, string>
  const set = useCallback(
    (change: Partial<Record<Name, string>>) => {
      const next = (old: AddressParams) =>
        Object.fromEntries(
          Object.entries({ ...old, ...change }).filter(
            ([name, value]) => value !== '' && value !== absent[name as Name],
          ),
        )
      void navigate({ to: '.', search: next as never, replace: true })
    },
    [navigate, absent],
  )
  return [words, set]
}
