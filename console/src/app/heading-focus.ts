import { type RefObject, useEffect } from 'react'

/** Module state: the page that was shown last; undefined before the first, whose focus is the browser's to place. */
let lastPath: string | undefined

/**
 * Moves the focus to the heading of a page that a navigation led to, and to the first field of one that creates something: a
 * screen reader then says where one is, and the keyboard starts there. A field that is typed into keeps the focus.
 */
export function useHeadingFocus(heading: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { pathname } = window.location
    const isNavigation = lastPath !== undefined && lastPath !== pathname
    lastPath = pathname
    if (!isNavigation || isTyping(document.activeElement)) return
    const title = heading.current
    const isNew = pathname.endsWith('/new')
    const field = isNew ? firstField() : null
    if (field !== null) field.focus()
    else title?.focus({ preventScroll: true })
    return isNew && field === null && title !== null ? focusLateField(title) : undefined
  }, [heading])
}

/** Fields that are drawn after the heading get the focus when they come, unless it went elsewhere meanwhile. Answers how to stop. */
function focusLateField(title: HTMLElement): () => void {
  const observer = new MutationObserver(() => {
    const field = firstField()
    if (field === null && document.activeElement === title) return
    observer.disconnect()
    if (document.activeElement === title) field?.focus()
  })
  observer.observe(document.body, { childList: true, subtree: true })
  return () => observer.disconnect()
}

function firstField(): HTMLElement | null {
  const fields = 'input:not([type=hidden], [type=file], [type=checkbox], [type=radio]), textarea, select'
  return document.querySelector<HTMLElement>(`#content :is(${fields}):enabled`)
}

function isTyping(element: Element | null): boolean {
  return element instanceof HTMLElement && element.matches('input, textarea, select, [contenteditable=true]')
}
