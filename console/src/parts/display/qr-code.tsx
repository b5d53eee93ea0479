import { Box } from '@mantine/core'
import { useMemo } from 'react'
import { encode } from 'uqr'

/** Light modules around the symbol (ISO/IEC 18004). */
const QUIET = 4

/** A text as a QR code, dark on white in either theme: that is what cameras read. */
export default function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, data } = useMemo(() => encode(text, { ecc: 'M', border: QUIET }), [text])
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
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
