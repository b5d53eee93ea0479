import { Box } from '@mantine/core'
import { useMemo } from 'react'
import { qrSymbol } from './qr-symbol.ts'

const QUIET = 4

/** A text as a QR code, dark on white in either theme: that is what cameras read. */
export default function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const symbol = useMemo(() => qrSymbol(text), [text])
  const size = symbol.length + 2 * QUIET
  const path = symbol.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])),
  )
  return (
    <Box maw={220} w="100%">
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
        <title>{label}</title>
        <rect width={size} height={size} fill="#fff" />
        <path d={path.join('')} fill="#000" />
      </svg>
    </Box>
  )
}
