import { createTheme, type MantineColorsTuple } from '@mantine/core'
import { say } from './texts/say.ts'

/** Blue of the product; step 6 on white and step 3 on the dark ground both reach a contrast of 4.5. */
const GATE: MantineColorsTuple = [
  '#eef6fc',
  '#d9e9f5',
  '#afd1ea',
  '#82b8df',
  '#5ea3d6',
  '#4795d0',
  '#1f6ea8',
  '#1f5f8b',
  '#164f77',
  '#0a3f61',
]

/** Red of refusals and deletions; step 6 carries white text at a contrast of 5, which the library's does not. */
const RED: MantineColorsTuple = [
  '#fff0f0',
  '#ffdede',
  '#ffbdbd',
  '#ff9b9b',
  '#fa7a7a',
  '#e85555',
  '#cf2f2f',
  '#b92525',
  '#a11d1d',
  '#8a1616',
]

/** Colours, corners and sizes of every page. */
export const theme = createTheme({
  primaryColor: 'gate',
  primaryShade: { light: 6, dark: 6 },
  colors: { gate: GATE, red: RED },
  defaultRadius: 'md',
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  components: {
    CloseButton: { defaultProps: { 'aria-label': say('part.close') } },
    // The head of a dialog is no banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
  },
})
