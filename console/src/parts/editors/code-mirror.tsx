import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { styleNonce } from '../../app/nonce.ts'
import type { EditorProps, Mark } from './editor-props.ts'
import { jsonFault } from './openapi-place.ts'

/** Light enough to be read on the line of the cursor too, which is lighter than the others. */
const DARK = HighlightStyle.define([
  { tag: tags.propertyName, color: '#9cdcfe' },
  { tag: tags.string, color: '#e6b07f' },
  { tag: tags.number, color: '#b5cea8' },
  { tag: [tags.bool, tags.null, tags.keyword], color: '#9cc9ff' },
  { tag: tags.comment, color: '#a8c796' },
])

/** Where nothing is yet, nothing is wrong. The library's own linter marks the first line where the browser names none. */
function faultsOf({ state }: EditorView): Diagnostic[] {
  const fault = state.doc.length === 0 ? undefined : jsonFault(state.doc.toString())
  return fault === undefined ? [] : diagnosticsOf(state, [fault])
}

/** The editor itself; `CodeEditor` loads it. */
export default function CodeMirror({ label, value, language, onChange, marks, isDark, height }: EditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const look = useRef(new Compartment())
  const speech = useRef(new Compartment())

  // The editor lives as long as its place; what changes meanwhile is handed to it below.
  // biome-ignore lint/correctness/useExhaustiveDependencies: text, language, look and marks have separate effects
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          lintGutter(),
          speech.current.of(speechOf(language)),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, indentWithTab]),
          EditorState.readOnly.of(onChange === undefined),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.theme({
            '&': { height: height ?? '28rem', fontSize: '13px' },
            '.cm-scroller': { overflow: 'auto' },
          }),
          look.current.of(lookOf(isDark === true)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current?.(update.state.doc.toString())
          }),
        ],
      }),
    })
    // Scrollable areas can be scrolled by keys.
    editor.scrollDOM.tabIndex = 0
    view.current = editor
    return () => editor.destroy()
  }, [label])

  useEffect(() => {
    const editor = view.current
    const change = editor === null ? undefined : changeTo(editor.state.doc.toString(), value)
    if (change !== undefined) editor?.dispatch({ changes: change })
  }, [value])

  // The first letter of a YAML document must not move the cursor.
  useEffect(() => view.current?.dispatch({ effects: speech.current.reconfigure(speechOf(language)) }), [language])

  useEffect(() => view.current?.dispatch({ effects: look.current.reconfigure(lookOf(isDark === true)) }), [isDark])

  useEffect(() => {
    const editor = view.current
    if (editor === null) return
    const found = diagnosticsOf(editor.state, marks ?? [])
    editor.dispatch(setDiagnostics(editor.state, found))
    // The cursor of a typing user must not move.
    if (found[0] !== undefined && !editor.hasFocus)
      editor.dispatch({ effects: EditorView.scrollIntoView(found[0].from, { y: 'center' }) })
  }, [marks])

  return <div ref={place} />
}

/** The change between two texts without their common beginning and end, so that cursor and view stay. */
function changeTo(old: string, value: string): { from: number; to: number; insert: string } | undefined {
  if (old === value) return undefined
  const shorter = Math.min(old.length, value.length)
  let from = 0
  while (from < shorter && old.charCodeAt(from) === value.charCodeAt(from)) from++
  let end = 0
  while (end < shorter - from && old.charCodeAt(old.length - 1 - end) === value.charCodeAt(value.length - 1 - end))
    end++
  return { from, to: old.length - end, insert: value.slice(from, value.length - end) }
}

function speechOf(language: EditorProps['language']) {
  return language === 'json' ? [json(), linter(faultsOf)] : yaml()
}

function lookOf(isDark: boolean) {
  return [EditorView.theme({}, { dark: isDark }), syntaxHighlighting(isDark ? DARK : defaultHighlightStyle)]
}

function diagnosticsOf(state: EditorState, marks: readonly Mark[]): Diagnostic[] {
  return marks.map(({ line, message }) => {
    const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
    return { from, to, severity: 'error', message }
  })
}
