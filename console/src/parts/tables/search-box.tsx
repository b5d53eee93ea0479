import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { SearchIcon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { say } from '../../texts/say.ts'

const PAUSE_MS = 250

/** A field that searches when the typing pauses; what is sought is the page's to keep, in its address. */
export function SearchBox(props: {
  readonly value: string
  readonly onSearch: (value: string) => void
  readonly label?: string
  readonly placeholder?: string
}) {
  const { value, label = say('part.searchIn') } = props
  const [typed, setTyped] = useState(value)
  const sought = useRef(value)
  const search = useDebouncedCallback((text: string) => {
    sought.current = text
    props.onSearch(text)
  }, PAUSE_MS)
  // The address also changes without typing: by going back, or by a link.
  useEffect(() => {
    if (value === sought.current) return
    sought.current = value
    setTyped(value)
  }, [value])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={props.placeholder ?? label}
      value={typed}
      leftSection={<SearchIcon size={16} aria-hidden />}
      maxLength={256}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        search(event.currentTarget.value)
      }}
    />
  )
}
