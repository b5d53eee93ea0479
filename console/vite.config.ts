import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { textsByArea } from './texts-by-area.ts'

/** Where calls go while the page is developed. */
const DASHBOARD = process.env.DASHBOARD ?? 'http://127.0.0.1:3000'

/** Scripts and styles are also written compressed, so that nobody has to do it for each request. */
function compressed(): Plugin {
  let assets = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved({ root, build }) {
      assets = join(resolve(root, build.outDir), 'assets')
    },
    closeBundle() {
      for (const name of readdirSync(assets).filter((file) => /\.(?:js|css)$/.test(file))) {
        const bytes = readFileSync(join(assets, name))
        writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes))
        writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

/** The dashboard serves what is built at `/console/`, and `index.html` at every address that is no call of its API. */
export default defineConfig({
  base: '/console/',
  root: import.meta.dirname,
  esbuild: { jsx: 'automatic' },
  html: { cspNonce: '__NONCE__' },
  plugins: [textsByArea(), compressed()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Every byte is served by the dashboard; nothing is written into the page that the policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    rollupOptions: {
      // Marks for servers that draw pages; there is none here.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/admin', '/auth', '/hello'].map((path) => [path, DASHBOARD])),
  },
})
